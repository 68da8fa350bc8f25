"""What a server that ended left unfinished."""

from __future__ import annotations

import pytest

from sftp_ingest.models import SftpLogin
from sftp_ingest.server.session import Limits
from tests.sftp_ingest.conftest import serving

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_server_that_ends_lets_nothing_unfinished_appear(acme_login: SftpLogin, acme_area, connect):
    with serving(Limits()) as server:
        file = connect(server, "acme").open_sftp().open("products/a.csv", "w")
        file.write(b"sku")
        file.stat()
    assert [path.name for path in (acme_area.parent / ".incoming").iterdir()] == ["cut"]
    assert list((acme_area / "products").iterdir()) == []


def test_a_server_that_begins_sweeps_up_after_one_that_was_killed(acme_area, serve, acme_login, connect):
    serve()
    left = acme_area.parent / ".incoming" / "left-behind"
    left.write_text("half")
    other = serve()
    assert not left.exists()

    file = connect(other, "acme").open_sftp().open("products/a.csv", "w")
    file.write(b"sku\n")
    file.stat()
    serve()  # a second server on the same folder leaves alone what the first is at
    file.close()
    assert (acme_area / "products/a.csv").read_bytes() == b"sku\n"
