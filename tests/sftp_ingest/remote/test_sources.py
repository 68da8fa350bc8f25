"""The valid values of `file_url` and `url`; nothing else is ever opened or fetched."""

from __future__ import annotations

import pytest

from accounts.models import Supplier
from api.errors import ApiError
from sftp_ingest.area import contents
from sftp_ingest.area.files import file_in_area
from sftp_ingest.errors import Refused
from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.sources import Local, Remote, classify
from sftp_ingest.tasks import collect
from tests.factories import RemoteHostFactory, SftpLoginFactory
from tests.upload_area import AreaPath, area_of

CSV = "sku,title\n"


@pytest.fixture
def spring(acme: Supplier, settings) -> AreaPath:
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
def test_these_values_name_a_file_of_the_own_area(acme: Supplier, spring: AreaPath, value: str):
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
        ("products/spring 1.csv/secret.csv", "no folder products/spring 1.csv"),
        ("../2/products/secret.csv", "must not contain"),
        ("products/../products/spring 1.csv", "must not contain"),
        ("sftp://127.0.0.1/products/%2e%2e/%2e%2e/secret.csv", "must not contain"),
        ("sftp://127.0.0.1/products/a%00b.csv", "invisible character"),
        ("sftp://127.0.0.1/products/%ff.csv", "not UTF-8"),
        ("sftp://127.0.0.1/products/a.csv?b", "%3F"),
        ("sftp://rival@127.0.0.1/products/spring%201.csv", "login of another supplier"),
        ("sftp://acme:secret@127.0.0.1/products/spring%201.csv", "Must not contain a password"),
        ("sftp://127.0.0.1:22/products/spring%201.csv", "not registered"),
        ("sftp://169.254.169.254/latest", "not registered"),
        ("sftp://files.acme.example:2200/a.csv", "not registered"),
        ("sftp://root@files.acme.example/a.csv", "not registered for"),
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
    acme: Supplier, rival: Supplier, spring: AreaPath, host: RemoteHost, value: str, why: str
):
    SftpLoginFactory.create(supplier=acme)
    SftpLoginFactory.create(supplier=rival)
    (area_of(rival) / "products/secret.csv").write_text(CSV)

    with pytest.raises(ApiError) as caught:
        classify(acme, value, field="url")

    assert caught.value.code == "validation_error"
    assert caught.value.errors is not None
    assert caught.value.errors[0]["field"] == "url"
    assert why in caught.value.message


def test_a_registered_host_is_remote_for_its_supplier_only(
    acme: Supplier, rival: Supplier, spring: AreaPath, host: RemoteHost
):
    assert classify(acme, "sftp://exchange@Files.acme.example/out/a%20b.csv") == Remote(host, "/out/a b.csv")
    with pytest.raises(ApiError, match="not registered"):
        classify(rival, "sftp://files.acme.example/out/a.csv")


def test_the_content_of_a_file_outlives_put_rename_and_rm_while_a_reader_has_it(
    acme: Supplier, spring: AreaPath
):
    blob = file_in_area(acme, "/products/spring 1.csv").blob
    assert blob is not None
    spring.write_text("another")
    spring.unlink()
    collect()

    assert contents.reader_of(blob).read(0, 100) == CSV.encode()


@pytest.mark.parametrize("path", ["products/missing.csv", "products", "../x", "", "products/spring 1.csv/x"])
def test_only_a_file_of_the_area_is_found(acme: Supplier, spring: AreaPath, path: str):
    with pytest.raises(Refused):
        file_in_area(acme, path)
