"""The keys and algorithms of real SSH clients."""

from __future__ import annotations

import select
import shutil
import socket
import subprocess
from collections.abc import Callable

import paramiko
import pytest

from sftp_ingest.server.listener import SftpServer
from tests.sftp_ingest.clients.conftest import Programs

pytestmark = [
    pytest.mark.program,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not shutil.which("ssh"), reason="the OpenSSH client is not installed"),
]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(programs: Programs, server: SftpServer) -> Run:
    """Return a function that runs an OpenSSH program, which knows all host keys of the server."""
    lines = (f"[127.0.0.1]:{server.port} {key.get_name()} {key.get_base64()}\n" for key in server._keys)
    (programs.home / "known").write_text("".join(lines))

    def make(program: str, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        port = "-p" if program == "ssh" else "-P"
        return programs.run(program, *programs.ssh_options, port, str(server.port), *words, given=given)

    return make


def host_key_of(run: Run, *options: str) -> str:
    done = run("sftp", *options, "-v", "-b", "-", "acme@127.0.0.1", given="ls")
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "kex: host key algorithm:" in line)
    return line.split()[-1]


@pytest.mark.parametrize("kind", ["rsa-sha2-512", "rsa-sha2-256", "ecdsa-sha2-nistp256", "ssh-ed25519"])
def test_a_client_chooses_the_kind_of_the_host_key(run, kind: str):
    assert host_key_of(run, "-o", f"HostKeyAlgorithms={kind}") == kind


def test_a_client_that_knows_the_ed25519_key_keeps_it(run, programs, server):
    key = server._keys[0]
    line = f"[127.0.0.1]:{server.port} {key.get_name()} {key.get_base64()}\n"
    (programs.home / "known").write_text(line)

    assert host_key_of(run) == "ssh-ed25519"


def test_a_client_that_prefers_another_kind_still_sees_the_ed25519_key(server):
    transport = paramiko.Transport(("127.0.0.1", server.port))
    transport._preferred_keys = ("ecdsa-sha2-nistp256", "rsa-sha2-512", "ssh-ed25519")
    try:
        transport.start_client(timeout=20)
        assert transport.get_remote_server_key().get_name() == "ssh-ed25519"
    finally:
        transport.close()


def test_a_client_that_waits_for_the_servers_algorithms_gets_all_kinds_of_host_keys(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"SSH-2.0-patient\r\n")
        answer = b""
        while b"ssh-ed25519" not in answer:
            data = client.recv(10_000)
            assert data, answer
            answer += data
    assert b"rsa-sha2-512" in answer
    assert b"ecdsa-sha2-nistp256" in answer


class LateClient(paramiko.Transport):  # type: ignore[misc]
    """A client that sends its list of algorithms only after it has seen the server's list."""

    def _send_kex_init(self) -> None:
        select.select([self.sock], [], [], 20)
        super()._send_kex_init()


def test_a_client_that_answers_the_servers_list_gets_the_kind_that_it_prefers(server):
    transport = LateClient(("127.0.0.1", server.port))
    transport._preferred_keys = ("ecdsa-sha2-nistp256", "ssh-ed25519")
    try:
        transport.start_client(timeout=20)
        assert transport.get_remote_server_key().get_name() == "ecdsa-sha2-nistp256"
        transport.renegotiate_keys()
        assert transport.get_remote_server_key().get_name() == "ecdsa-sha2-nistp256"
    finally:
        transport.close()


@pytest.mark.parametrize("name", ["curve25519-sha256", "curve25519-sha256@libssh.org"])
def test_curve25519_has_both_its_names(run, name: str):
    host_key_of(run, "-o", f"KexAlgorithms={name}")


@pytest.mark.parametrize(
    ("program", "words"),
    [("scp", ["-O", "x.csv", "acme@127.0.0.1:products/"]), ("ssh", ["acme@127.0.0.1"])],
)
def test_a_client_that_needs_a_shell_is_pointed_to_sftp(run, program: str, words: list[str]):
    done = run(program, *words, given="")

    assert done.returncode == 1
    assert "This server has no shell. Use sftp, or scp without -O." in done.stderr
