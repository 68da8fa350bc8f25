"""Nothing outside of a supplier's own area can be reached, by any path, link or rename."""

from __future__ import annotations

import io

import paramiko
import pytest
from paramiko.sftp import CMD_EXTENDED

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.server.session import NO_SHELL
from tests.sftp_ingest.conftest import PASSWORD
from tests.upload_area import AreaPath, area_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(rival: Supplier) -> AreaPath:
    """Create a file in Rival's area."""
    path = area_of(rival) / "products/secret.csv"
    path.write_text("secret")
    return path


def test_the_area_is_the_root(acme_sftp, secret: AreaPath, rival: Supplier, settings):
    assert acme_sftp.normalize("../..") == "/"
    assert acme_sftp.normalize(f"/products/../../{rival.pk}") == f"/{rival.pk}"
    (content,) = (path for path in settings.UPLOADS_DIR.rglob("*") if path.is_file())
    assert content.read_text() == "secret"
    for path in (f"../{rival.pk}/products/secret.csv", str(content), f"/products/../../{rival.pk}"):
        with pytest.raises(FileNotFoundError):
            acme_sftp.open(path)
        with pytest.raises(FileNotFoundError):
            acme_sftp.listdir(path)
        with pytest.raises(FileNotFoundError):
            acme_sftp.remove(path)


def test_foreign_files_on_the_disk_are_in_no_area(acme_sftp, acme: Supplier, secret: AreaPath, settings):
    """Names are rows, so a link, pipe or folder on the disk never belongs to an area."""
    folder = settings.UPLOADS_DIR / str(acme.pk) / "products"
    folder.mkdir(parents=True)
    (folder / "link.csv").symlink_to("/etc/passwd")
    (settings.UPLOADS_DIR / "blobs/products").mkdir()

    assert acme_sftp.listdir("products") == []
    for path in ("products/link.csv", "blobs", f"blobs/{secret.entry.blob_id}"):
        with pytest.raises(FileNotFoundError):
            acme_sftp.open(path)


def test_links_cannot_be_made(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(b"x"), "products/a.csv")

    with pytest.raises(PermissionError, match="no links"):
        acme_sftp.symlink("/etc/passwd", "products/link.csv")
    with pytest.raises(OSError, match="no links"):
        acme_sftp.readlink("products/a.csv")
    with pytest.raises(OSError, match="unsupported"):
        acme_sftp._request(CMD_EXTENDED, "hardlink@openssh.com", "products/a.csv", "products/b.csv")
    assert (acme_area / "products").names() == ["a.csv"]


def test_a_file_cannot_be_renamed_out_of_the_area(
    acme_sftp, acme_area: AreaPath, rival: Supplier, secret: AreaPath
):
    acme_sftp.putfo(io.BytesIO(b"x"), "products/a.csv")

    for rename in (acme_sftp.rename, acme_sftp.posix_rename):
        with pytest.raises(FileNotFoundError):
            rename("products/a.csv", f"/../{rival.pk}/products/a.csv")
        with pytest.raises(FileNotFoundError):
            rename(f"/../{rival.pk}/products/secret.csv", "products/mine.csv")
    assert (acme_area / "products").names() == ["a.csv"]
    assert (area_of(rival) / "products").names() == ["secret.csv"]


def test_templates_and_the_first_folders_cannot_be_changed(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(b"x"), "products/a.csv")

    assert acme_sftp.open("templates/products.csv").read().startswith(b"sku,")
    assert acme_sftp.stat("templates").st_mode & 0o222 == 0
    for change in (
        lambda: acme_sftp.open("templates/products.csv", "w"),
        lambda: acme_sftp.remove("templates/products.csv"),
        lambda: acme_sftp.rename("products/a.csv", "templates/a.csv"),
        lambda: acme_sftp.rename("templates/products.csv", "products/b.csv"),
        lambda: acme_sftp.mkdir("templates/mine"),
        lambda: acme_sftp.rmdir("inventory"),
        lambda: acme_sftp.rename("products", "old"),
        lambda: acme_sftp.posix_rename("products", "inventory"),
    ):
        with pytest.raises(PermissionError):
            change()


@pytest.mark.parametrize(
    "name", ["a\nb.csv", "a\u202ecsv.exe", "a\\b.csv", " a.csv", "a\x7f.csv", "\u2028.csv", "ä" * 130]
)
def test_misleading_names_are_refused(acme_sftp, acme_area: AreaPath, name: str):
    with pytest.raises(OSError, match="The name"):
        acme_sftp.open(f"products/{name}", "w")
    with pytest.raises(OSError, match="The name"):
        acme_sftp.mkdir(f"products/{name}")
    assert (acme_area / "products").names() == []


def test_a_name_that_is_not_utf_8_is_refused(acme_sftp):
    with pytest.raises(OSError, match="UTF-8"):
        acme_sftp.open(b"products/\xff\xfe.csv", "w")


def test_both_spellings_of_an_accent_are_one_name(acme_sftp):
    acme_sftp.putfo(io.BytesIO(b"x"), "products/e\u0301te\u0301.csv")

    assert acme_sftp.listdir("products") == ["été.csv"]


def test_modes_are_accepted_without_effect_and_times_are_kept(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(b"x"), "products/a.csv")
    before = acme_sftp.stat("products/a.csv").st_mode
    acme_sftp.chmod("products/a.csv", 0o4777)
    acme_sftp.utime("products/a.csv", (5, 7))

    assert acme_sftp.stat("products/a.csv").st_mode == before
    assert (acme_sftp.stat("products/a.csv").st_atime, acme_sftp.stat("products/a.csv").st_mtime) == (5, 7)
    assert acme_sftp.listdir_attr("products")[0].st_mtime == 7


def test_a_file_can_be_truncated_only_to_zero_bytes(acme_sftp, acme_area: AreaPath):
    """sshfs truncates a file before it writes it again."""
    acme_sftp.putfo(io.BytesIO(b"xyz"), "products/a.csv")
    with pytest.raises(OSError, match="Put the whole file"):
        acme_sftp.truncate("products/a.csv", 1)
    with pytest.raises(OSError, match="Put the whole file"):
        acme_sftp.truncate("products", 0)
    assert (acme_area / "products/a.csv").read_bytes() == b"xyz"

    acme_sftp.truncate("products/a.csv", 0)
    assert (acme_area / "products/a.csv").read_bytes() == b""
    assert list(Upload.objects.order_by("id").values_list("size", flat=True)) == [3, 0]


def test_the_extension_that_could_read_forever_is_switched_off(acme_sftp):
    acme_sftp.putfo(io.BytesIO(b"abc"), "products/a.csv")
    file = acme_sftp.open("products/a.csv")

    with pytest.raises(OSError, match="unsupported"):
        file.check("sha1", 0, 2**40, 2**30)


def test_there_are_no_shells_commands_or_forwards(server, acme_login: SftpLogin, connect):
    client = connect(server, "acme")
    transport = client.get_transport()

    for ask in (lambda channel: channel.invoke_shell(), lambda channel: channel.exec_command("id")):
        channel = transport.open_session(timeout=10)
        ask(channel)
        assert channel.recv_exit_status() == 1
        assert (channel.recv(100), channel.recv_stderr(100)) == (b"", NO_SHELL.encode())
    for ask in (
        lambda channel: channel.get_pty(),
        lambda channel: channel.invoke_subsystem("netconf"),
    ):
        channel = transport.open_session(timeout=10)
        with pytest.raises(paramiko.SSHException):
            ask(channel)
        channel.close()
    with pytest.raises(paramiko.SSHException):
        transport.request_port_forward("127.0.0.1", 0)


def test_no_channel_leads_to_another_host(server, acme_login: SftpLogin, connect):
    transport = connect(server, "acme").get_transport()

    with pytest.raises(paramiko.ChannelException, match="prohibited"):
        transport.open_channel("direct-tcpip", ("127.0.0.1", 22), ("127.0.0.1", 1), timeout=10)


def test_weak_ciphers_are_not_offered(server, acme_login: SftpLogin):
    with paramiko.SSHClient() as client:
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        strong = [name for name in paramiko.Transport._preferred_ciphers if "cbc" not in name]
        with pytest.raises(paramiko.SSHException):
            client.connect(
                "127.0.0.1",
                server.port,
                "acme",
                PASSWORD,
                look_for_keys=False,
                allow_agent=False,
                disabled_algorithms={"ciphers": strong},
            )
