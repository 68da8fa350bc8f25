"""OpenSSH resumes cut uploads, shows the quota, and shows the reason of a refusal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from factory import Sequence

from accounts.models import Supplier
from sftp_ingest.area import contents
from sftp_ingest.models import Upload
from tests.factories import DirectoryEntryFactory
from tests.sftp_ingest.clients.conftest import Programs
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]


@pytest.fixture
def sftp(programs: Programs) -> Callable[..., str]:
    def run(*commands: str) -> str:
        words = (*programs.ssh_options, "-P", str(programs.port), "-b", "-", "acme@127.0.0.1")
        return programs.well("sftp", *words, given="\n".join(commands))

    return run


@pytest.mark.parametrize("command", ["reput", "put -a"])
def test_a_cut_upload_continues(sftp, programs, leave_cut, acme_area: AreaPath, command: str):
    (programs.folder / "long.csv").write_bytes(b"sku\n" + b"X\n" * 500_000)
    leave_cut("products/long.csv", (programs.folder / "long.csv").read_bytes()[:777_777])
    sftp(f"{command} long.csv products/long.csv")

    assert (acme_area / "products/long.csv").read_bytes() == (programs.folder / "long.csv").read_bytes()
    assert Upload.objects.get().size == 1_000_004


def test_scp_begins_a_cut_upload_from_the_start(programs, leave_cut, acme_area: AreaPath):
    leave_cut("products/x.csv", b"sku\nA much longer one\n")
    options = (*programs.ssh_options, "-P", str(programs.port))
    programs.well("scp", "-s", *options, "x.csv", "acme@127.0.0.1:products/x.csv")

    assert (acme_area / "products/x.csv").read_text() == "sku\nX\n"


def test_times_are_kept_with_p(sftp, acme_area: AreaPath):
    sftp("put -p x.csv products/x.csv")

    assert (acme_area / "products/x.csv").stat().st_mtime == 1_600_000_000
    assert "2020" in sftp("ls -l products/x.csv")


def test_the_quota_is_shown_as_a_disk(sftp):
    assert "5.0GB" in sftp("df -h").replace(" ", "")


def test_a_long_folder_is_listed(sftp, acme: Supplier):
    sftp("mkdir products/many")
    folder, blob = "products/many", contents.write([])
    DirectoryEntryFactory.create_in_bulk(
        3000, supplier=acme, folder=folder, name=Sequence("{:04}.csv".format), blob=blob
    )

    assert sftp("ls -1 products/many").split()[-3000:] == [
        f"products/many/{number:04}.csv" for number in range(3000)
    ]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("put x.csv templates/x.csv", "templates/ is read-only."),
        ("rm products", "Permission denied"),
        ("rmdir products", "The folder /products cannot be changed."),
        ("reput long.csv products/x.csv", "Put the whole file"),
    ],
)
def test_a_refusal_gives_its_reason_in_words(programs, sftp, command: str, said: str):
    (programs.folder / "long.csv").write_text("sku\nX\nY\n")
    sftp("put x.csv products/x.csv")

    with pytest.raises(AssertionError, match=said):
        sftp(command)
