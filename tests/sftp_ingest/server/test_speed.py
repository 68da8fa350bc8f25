"""Our fast replacements of parts of paramiko give the same results as paramiko's own code."""

from __future__ import annotations

import hashlib
import hmac
import socket

import paramiko
import pytest
from paramiko import packet, util

from sftp_ingest.models import SftpLogin
from sftp_ingest.server.speed import READ_AT_ONCE, BufferedSocket, use_fast_checksums


class CountingSocket(socket.socket):
    """A socket that counts its calls and their bytes."""

    asked: list[int]

    def recv(self, size: int, flags: int = 0) -> bytes:
        self.asked.append(size)
        return super().recv(size, flags)


def test_small_reads_make_one_large_system_call():
    ours, theirs = socket.socketpair()
    with theirs, CountingSocket(fileno=ours.detach()) as counting:
        counting.asked, sent = [], bytes(range(256)) * 40
        theirs.sendall(sent)
        buffered, got = BufferedSocket(counting), b""
        while len(got) < len(sent):
            got += buffered.recv(7)
        theirs.close()

        assert got == sent
        assert buffered.recv(7) == b""
        assert set(counting.asked) == {READ_AT_ONCE}
        assert len(counting.asked) < 10


@pytest.mark.parametrize("digest", [hashlib.sha256, hashlib.sha512])
def test_checksums_equal_those_of_paramiko(digest):
    use_fast_checksums()

    expected = hmac.new(b"key", b"message", digest).digest()
    assert packet.compute_hmac(b"key", b"message", digest) == expected
    assert util.constant_time_bytes_eq is hmac.compare_digest


@pytest.mark.django_db(transaction=True)
def test_a_packet_that_was_changed_on_the_way_ends_the_connection(acme_login: SftpLogin, server, connect):
    client = connect(server, "acme", disabled_algorithms={"ciphers": ["aes256-gcm@openssh.com"]})
    transport = client.get_transport()
    assert transport.remote_cipher == "aes128-ctr"
    client.open_sftp().listdir()
    packetizer = transport.packetizer
    packetizer._Packetizer__mac_key_out = b"another key"

    with pytest.raises((EOFError, OSError, paramiko.SSHException)):
        client.open_sftp().listdir()
    transport.join(60)
    assert not transport.is_active()
