"""What `file_url` and `url` may say, and that nothing else is ever opened or fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accounts.models import Supplier
from api.errors import ApiError
from sftp_ingest.area.files import area_of, link_version, open_in_area
from sftp_ingest.errors import Refused
from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.sources import Local, Remote, classify
from tests.factories import RemoteHostFactory, SftpLoginFactory

CSV = "sku,title\n"


@pytest.fixture
def spring(acme: Supplier, settings) -> Path:
    settings.SFTP_HOST, settings.SFTP_PORT = "127.0.0.1", 2222
    settings.ALLOWED_HOSTS = ["exchange.example", "127.0.0.1"]
    path = area_of(acme) / "products" / "spring 1.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def host(acme: Supplier) -> RemoteHost:
    return RemoteHostFactory.create(supplier=acme, host="files.acme.example", username="exchange")


@pytest.mark.parametrize(
    "value",
    [
        "products/spring 1.csv",
        "/products/spring 1.csv",
        "./products//spring 1.csv",
        "sftp://127.0.0.1:2222/products/spring%201.csv",
        "sftp://127.0.0.1/products/spring 1.csv",
        "SFTP://localhost:2222/products/spring 1.csv",
        "sftp://exchange.example/products/spring%201.csv",
        "sftp://acme@exchange.example:2222/products/spring%201.csv",
    ],
)
def test_these_mean_a_file_of_the_own_area(acme: Supplier, spring: Path, value: str):
    SftpLoginFactory.create(supplier=acme)

    assert classify(acme, value) == Local("products/spring 1.csv")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("", "Must be a path"),
        ("products/missing.csv", "no file products/missing.csv"),
        ("missing/spring.csv", "no folder missing"),
        ("products", "not a plain file"),
        ("/", "not a folder"),
        ("products/link.csv", "not a plain file"),
        ("linked/secret.csv", "no folder linked"),
        ("../2/products/secret.csv", "may not hold"),
        ("products/../products/spring 1.csv", "may not hold"),
        ("sftp://127.0.0.1/products/%2e%2e/%2e%2e/secret.csv", "may not hold"),
        ("sftp://127.0.0.1/products/a%00b.csv", "cannot be seen"),
        ("sftp://127.0.0.1/products/%ff.csv", "not UTF-8"),
        ("sftp://127.0.0.1/products/a.csv?b", "%3F"),
        ("sftp://rival@127.0.0.1/products/spring%201.csv", "not this supplier's"),
        ("sftp://acme:secret@127.0.0.1/products/spring%201.csv", "May not hold a password"),
        ("sftp://127.0.0.1:22/products/spring%201.csv", "not registered"),
        ("sftp://169.254.169.254/latest", "not registered"),
        ("sftp://files.acme.example:2200/a.csv", "not registered"),
        ("sftp://root@files.acme.example/a.csv", "another user"),
        ("sftp://files.acme.example/", "Names no file"),
        ("sftp://[::1/a.csv", "not a valid URL"),
        ("sftp://127.0.0.1:port/a.csv", "not a valid URL"),
        ("http://127.0.0.1/products/spring%201.csv", "Only sftp"),
        ("file:///etc/passwd", "Only sftp"),
        ("/etc/passwd", "no folder etc"),
        ("x" * 1001, "at most 1000"),
    ],
)
def test_everything_else_is_refused_with_its_reason(
    acme: Supplier, rival: Supplier, spring: Path, host: RemoteHost, value: str, why: str
):
    SftpLoginFactory.create(supplier=acme)
    SftpLoginFactory.create(supplier=rival)
    secret = area_of(rival) / "products" / "secret.csv"
    secret.write_text(CSV)
    (spring.parent / "link.csv").symlink_to(secret)
    (area_of(acme) / "linked").symlink_to(secret.parent)

    with pytest.raises(ApiError) as caught:
        classify(acme, value, field="url")

    assert caught.value.code == "validation_error"
    assert caught.value.errors is not None
    assert caught.value.errors[0]["field"] == "url"
    assert why in caught.value.message


def test_a_registered_host_is_remote_for_its_supplier_only(
    acme: Supplier, rival: Supplier, spring: Path, host: RemoteHost
):
    assert classify(acme, "sftp://exchange@Files.acme.example/out/a%20b.csv") == Remote(host, "/out/a b.csv")
    with pytest.raises(ApiError, match="not registered"):
        classify(rival, "sftp://files.acme.example/out/a.csv")


def test_a_named_pipe_does_not_hold_up_the_reader(acme: Supplier, spring: Path):
    os.mkfifo(spring.parent / "pipe.csv")

    with pytest.raises(Refused, match="not a plain file"):
        open_in_area(acme, "products/pipe.csv")


def test_a_linked_version_outlives_put_rename_and_rm(acme: Supplier, spring: Path, tmp_path: Path):
    version = tmp_path / "data" / "uploads" / "job-1.csv"
    link_version(acme, "/products/spring 1.csv", version)
    (fresh := spring.with_name("fresh")).write_text("another")
    fresh.rename(spring)
    assert version.read_text() == CSV

    spring.unlink()
    assert version.read_text() == CSV


@pytest.mark.parametrize("path", ["products/missing.csv", "products", "../x", "products/link.csv"])
def test_only_a_plain_file_of_the_area_is_linked(acme: Supplier, spring: Path, tmp_path: Path, path: str):
    (spring.parent / "link.csv").symlink_to(spring)
    version = tmp_path / "data" / "uploads" / "job-1.csv"

    with pytest.raises(Refused):
        link_version(acme, path, version)
    assert not version.exists()
