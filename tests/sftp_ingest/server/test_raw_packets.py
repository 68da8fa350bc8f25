"""Malformed packets are answered or end only their own connection."""

from __future__ import annotations

import struct
from collections.abc import Callable

import paramiko
import pytest
from paramiko.sftp import (
    CMD_EXTENDED,
    CMD_FSETSTAT,
    CMD_INIT,
    CMD_MKDIR,
    CMD_OPEN,
    CMD_READ,
    CMD_REALPATH,
    CMD_RENAME,
    CMD_SETSTAT,
    CMD_STAT,
    CMD_STATUS,
    CMD_WRITE,
    SFTP_FAILURE,
    SFTP_OP_UNSUPPORTED,
)

from sftp_ingest.models import SftpLogin
from sftp_ingest.server.listener import SftpServer
from tests.upload_area import AreaPath

pytestmark = pytest.mark.django_db(transaction=True)

HUGE = 2**32 - 1
EXTENDED = paramiko.SFTPAttributes.FLAG_EXTENDED


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">I", len(data)) + data


class Conversation:
    """A client that sends and receives raw SFTP packets over a channel."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self.channel = channel
        channel.settimeout(20)
        channel.invoke_subsystem("sftp")
        self.send(CMD_INIT, struct.pack(">I", 3))
        self.answer()

    def send(self, kind: int, content: bytes) -> None:
        self.channel.sendall(struct.pack(">IB", len(content) + 1, kind) + content)

    def answer(self) -> tuple[int, bytes]:
        (length,) = struct.unpack(">I", self._read(4))
        data = self._read(length)
        return data[0], data[1:]

    def status(self, kind: int, content: bytes) -> int:
        """Return the status of a refused request."""
        self.send(kind, struct.pack(">I", 7) + content)
        kind, answer = self.answer()
        number, code = struct.unpack(">II", answer[:8])
        assert (kind, number) == (CMD_STATUS, 7)
        return int(code)

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            part = self.channel.recv(length - len(data))
            assert part, "the server has ended the channel"
            data += part
        return data


@pytest.fixture
def transport(acme_login: SftpLogin, server: SftpServer, connect: Callable[..., paramiko.SSHClient]):
    return connect(server, "acme").get_transport()


@pytest.fixture
def raw(transport: paramiko.Transport) -> Conversation:
    return Conversation(transport.open_session(timeout=20))


@pytest.mark.parametrize("kind", [CMD_SETSTAT, CMD_FSETSTAT, CMD_MKDIR])
def test_a_file_has_no_more_attributes_than_the_packet_has_room_for(kind: int, raw: Conversation):
    assert raw.status(kind, text("none/at/all") + struct.pack(">II", EXTENDED, HUGE)) != 0


def test_a_path_of_accents_is_refused_at_once(raw: Conversation):
    accents = "a" + "\u0301" * 100_000 + "\u0316" * 100_000

    assert raw.status(CMD_STAT, text(accents)) == SFTP_FAILURE


def test_an_unknown_command_is_reported_as_unsupported(raw: Conversation):
    assert raw.status(250, b"") == SFTP_OP_UNSUPPORTED
    assert raw.status(CMD_EXTENDED, text("none@example.com")) == SFTP_OP_UNSUPPORTED


@pytest.mark.parametrize("length", [0, 2**20 + 1, HUGE])
def test_a_packet_of_an_impossible_length_ends_only_its_own_channel(
    length: int, raw: Conversation, transport: paramiko.Transport, acme_area: AreaPath
):
    raw.channel.sendall(struct.pack(">I", length) + b"x" * 100)
    raw.channel.shutdown_write()

    assert paramiko.SFTPClient.from_transport(transport).listdir("products") == []


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (CMD_OPEN, text("products/a.csv") + struct.pack(">III", 2, EXTENDED, 1) + text("a") + text("b")),
        (CMD_WRITE, text("hx1") + struct.pack(">Q", 2**64 - 1) + text("x")),
        (CMD_READ, text("hx1") + struct.pack(">QI", 2**64 - 1, HUGE)),
        (CMD_RENAME, text("products/a.csv") + text("products/b.csv")),
        (CMD_SETSTAT, text("products/a.csv") + struct.pack(">IQ", 1, 2**64 - 1)),
        (CMD_EXTENDED, text("posix-rename@openssh.com") + text("products/a.csv") + text("x")),
    ],
)
def test_a_request_split_at_any_byte_is_answered_and_the_connection_continues(
    kind: int, content: bytes, raw: Conversation, acme_area: AreaPath
):
    for length in range(len(content) + 1):
        raw.status(kind, content[:length])

    raw.send(CMD_REALPATH, struct.pack(">I", 8) + text("/products"))
    assert b"/products" in raw.answer()[1]
    assert (acme_area / "products").names() == []
