"""The packets of clients that the tests may be unable to run: WinSCP and sshfs."""

from __future__ import annotations

import paramiko
import pytest
from paramiko.sftp import (
    CMD_CLOSE,
    CMD_EXTENDED,
    CMD_FSETSTAT,
    CMD_FSTAT,
    CMD_LSTAT,
    CMD_OPEN,
    CMD_READ,
    CMD_REMOVE,
    CMD_RENAME,
    CMD_SETSTAT,
    CMD_WRITE,
    SFTP_FLAG_CREATE,
    SFTP_FLAG_EXCL,
    SFTP_FLAG_READ,
    SFTP_FLAG_TRUNC,
    SFTP_FLAG_WRITE,
    int64,
)

from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.server.listener import SftpServer
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]

CSV = b"sku,title\nA-1,Lamp\n"


class Packets:
    """A client that sends raw requests, and returns the answers."""

    def __init__(self, client: paramiko.SFTPClient) -> None:
        self.client = client

    def open(self, path: str, flags: int) -> bytes:
        _, answer = self.client._request(CMD_OPEN, path, flags | SFTP_FLAG_WRITE, attributes())
        return bytes(answer.get_binary())

    def write(self, handle: bytes, offset: int, data: bytes) -> None:
        self.client._request(CMD_WRITE, handle, int64(offset), data)

    def size(self, command: int, what: str | bytes) -> int:
        _, answer = self.client._request(command, what)
        return int(paramiko.SFTPAttributes._from_msg(answer).st_size)

    def ask(self, command: int, *what: object) -> paramiko.Message:
        return self.client._request(command, *what)[1]


def attributes(**fields: int) -> paramiko.SFTPAttributes:
    made = paramiko.SFTPAttributes()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.fixture
def packets(acme_sftp: paramiko.SFTPClient) -> Packets:
    return Packets(acme_sftp)


def test_winscp_resumes_its_filepart_and_renames_it(
    server: SftpServer, acme_login: SftpLogin, connect, cut, acme_area: AreaPath
):
    client = connect(server, "acme")
    packets = Packets(client.open_sftp())
    part = packets.open("/products/x.csv.filepart", SFTP_FLAG_CREATE | SFTP_FLAG_TRUNC)
    packets.write(part, 0, CSV[:10])
    cut(client)

    packets = Packets(connect(server, "acme").open_sftp())
    with pytest.raises(FileNotFoundError):
        packets.ask(CMD_LSTAT, "/products/x.csv")
    assert packets.size(CMD_LSTAT, "/products/x.csv.filepart") == 10
    part = packets.open("/products/x.csv.filepart", SFTP_FLAG_CREATE)
    assert packets.size(CMD_FSTAT, part) == 10
    packets.write(part, 10, CSV[10:])
    packets.ask(CMD_FSETSTAT, part, attributes(st_mode=0o644, st_atime=9, st_mtime=1_600_000_000))
    packets.ask(CMD_CLOSE, part)
    packets.ask(CMD_RENAME, "/products/x.csv.filepart", "/products/x.csv")

    assert (acme_area / "products/x.csv").read_bytes() == CSV
    assert (acme_area / "products/x.csv").stat().st_mtime == 1_600_000_000
    assert Upload.objects.latest("id").path == "products/x.csv"


def test_winscp_opens_a_file_as_a_new_file_to_learn_whether_it_exists(packets: Packets, leave_cut):
    leave_cut("products/x.csv", CSV[:4])
    new = packets.open("/products/x.csv", SFTP_FLAG_CREATE | SFTP_FLAG_EXCL)
    packets.write(new, 0, b"sku\n")
    packets.ask(CMD_CLOSE, new)

    with pytest.raises(OSError, match="exists already"):
        packets.open("/products/x.csv", SFTP_FLAG_CREATE | SFTP_FLAG_EXCL)


def test_winscp_removes_a_filepart_that_it_does_not_resume(packets: Packets, leave_cut):
    leave_cut("products/x.csv.filepart", CSV[:4])
    packets.ask(CMD_REMOVE, "/products/x.csv.filepart")

    with pytest.raises(FileNotFoundError):
        packets.ask(CMD_LSTAT, "/products/x.csv.filepart")


def test_sshfs_reads_renames_and_sets_the_times_of_a_file_that_it_has_open(
    packets: Packets, acme_area: AreaPath
):
    new = packets.open("/products/half", SFTP_FLAG_CREATE | SFTP_FLAG_EXCL | SFTP_FLAG_READ)
    assert packets.size(CMD_LSTAT, "/products/half") == 0
    packets.write(new, 0, CSV)
    assert packets.size(CMD_LSTAT, "/products/half") == len(CSV)
    assert packets.ask(CMD_READ, new, int64(0), 100).get_binary() == CSV
    assert packets.client.open("/products/half").read() == CSV
    packets.ask(CMD_SETSTAT, "/products/half", attributes(st_atime=9, st_mtime=1_600_000_000))
    assert packets.client.stat("/products/half").st_mtime == 1_600_000_000
    packets.ask(CMD_EXTENDED, "fsync@openssh.com", new)
    packets.ask(CMD_EXTENDED, "posix-rename@openssh.com", "/products/half", "/products/x.csv")
    assert (acme_area / "products").names() == []
    packets.ask(CMD_CLOSE, new)

    assert (acme_area / "products/x.csv").read_bytes() == CSV
    assert (acme_area / "products/x.csv").stat().st_mtime == 1_600_000_000
    assert [upload.path for upload in Upload.objects.all()] == ["products/x.csv"]


@pytest.mark.parametrize("content", [b"sku\n", CSV + CSV])
def test_sshfs_empties_a_file_and_writes_it_again(packets: Packets, acme_area: AreaPath, content: bytes):
    (acme_area / "products/x.csv").write_bytes(CSV)
    packets.ask(CMD_SETSTAT, "/products/x.csv", attributes(st_size=0))
    assert packets.size(CMD_LSTAT, "/products/x.csv") == 0
    file = packets.open("/products/x.csv", 0)
    packets.write(file, 0, content)
    packets.ask(CMD_CLOSE, file)

    assert (acme_area / "products/x.csv").read_bytes() == content
    assert list(Upload.objects.filter(swept_at=None).values_list("size", flat=True)) == [len(content)]


def test_sshfs_removes_a_file_that_it_has_open(packets: Packets, acme_area: AreaPath):
    new = packets.open("/products/x.csv", SFTP_FLAG_CREATE | SFTP_FLAG_TRUNC)
    packets.write(new, 0, CSV)
    packets.ask(CMD_REMOVE, "/products/x.csv")
    packets.ask(CMD_CLOSE, new)

    assert (acme_area / "products").names() == []
    assert not Upload.objects.exists()


def test_the_limits_are_announced(packets: Packets):
    answer = packets.ask(CMD_EXTENDED, "limits@openssh.com")

    assert [answer.get_int64() for _ in range(4)] == [262144, 261120, 261120, 32]


@pytest.mark.parametrize("command", [CMD_FSTAT, CMD_CLOSE])
def test_an_unknown_handle_is_refused(packets: Packets, command: int):
    with pytest.raises(OSError, match="handle"):
        packets.ask(command, b"none")
    with pytest.raises(OSError, match="handle"):
        packets.ask(CMD_FSETSTAT, b"none", attributes(st_size=0))
    with pytest.raises(OSError, match="handle"):
        packets.ask(CMD_EXTENDED, "fsync@openssh.com", b"none")
    with pytest.raises(OSError, match="unsupported"):
        packets.ask(CMD_EXTENDED, "hardlink@openssh.com", "/products", "/x")
