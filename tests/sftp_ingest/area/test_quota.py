"""How much an area holds."""

from __future__ import annotations

import pytest

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin
from tests.sftp_ingest.conftest import put

pytestmark = pytest.mark.django_db(transaction=True)


def test_quotas_are_met_while_writing(server, acme: Supplier, login_of, connect, acme_area):
    login_of(acme, quota_bytes=1000, largest_file_bytes=600)
    sftp = connect(server, "acme").open_sftp()

    with pytest.raises(OSError, match="600 bytes at most"):
        put(sftp, b"x" * 601, "products/large.csv")
    put(sftp, b"x" * 600, "products/a.csv")
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x" * 600, "products/b.csv")
    sftp.remove("products/a.csv")
    put(sftp, b"x" * 600, "products/b.csv")
    put(sftp, b"x" * 400, "products/c.csv")
    put(sftp, b"", "products/empty.csv")

    assert sorted(path.name for path in (acme_area / "products").iterdir()) == [
        "b.csv",
        "c.csv",
        "empty.csv",
    ]


def test_a_full_disk_is_said(acme_login: SftpLogin, server, connect, monkeypatch):
    monkeypatch.setattr("sftp_ingest.area.incoming.MIN_FREE_DISK", 2**62)

    with pytest.raises(OSError, match="disk of this service is full"):
        connect(server, "acme").open_sftp().open("products/a.csv", "w")


def test_what_operators_remove_is_free_again(
    server, acme: Supplier, login_of, connect, acme_area, monkeypatch
):
    login_of(acme, quota_bytes=1000)
    sftp = connect(server, "acme").open_sftp()
    put(sftp, b"x" * 1000, "products/a.csv")
    (acme_area / "products/a.csv").unlink()
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x", "products/b.csv")

    monkeypatch.setattr("sftp_ingest.area.quota.MEASURE_AFTER", 0.0)  # a minute later
    put(sftp, b"x" * 1000, "products/b.csv")
