"""Unfinished uploads of a server that ended."""

from __future__ import annotations

import pytest

from sftp_ingest.models import OpenUpload, SftpLogin
from sftp_ingest.server.session import SessionLimits
from sftp_ingest.tasks import collect
from tests.sftp_ingest.conftest import serving

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_stopped_server_publishes_no_unfinished_file(acme_login: SftpLogin, acme_area, connect):
    with serving(SessionLimits()) as server:
        file = connect(server, "acme").open_sftp().open("products/a.csv", "w")
        file.write(b"sku")
        file.stat()
    assert OpenUpload.objects.get().holder == ""
    assert (acme_area / "products").names() == []


def test_a_second_server_leaves_the_uploads_of_the_first_alone(acme_area, serve, acme_login, connect):
    other = serve()
    file = connect(other, "acme").open_sftp().open("products/a.csv", "w")
    file.write(b"sku\n")
    file.stat()
    serve()
    collect()
    file.close()
    assert (acme_area / "products/a.csv").read_bytes() == b"sku\n"
