"""The keys by which clients know the server."""

from __future__ import annotations

from sftp_ingest.server.host_key import host_keys, key_paths, public_line

KINDS = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"]


def test_host_keys_are_made_once_and_for_their_owner_alone(settings):
    line = public_line()
    first = [key.asbytes() for key in host_keys()]

    assert line.startswith("ssh-ed25519 AAAA")
    assert public_line() == line
    assert [key.get_name() for key in host_keys()] == KINDS
    assert [key.asbytes() for key in host_keys()] == first
    assert sorted(settings.SECRETS_DIR.iterdir()) == sorted(key_paths())
    assert {path.stat().st_mode & 0o777 for path in key_paths()} == {0o600}
    assert all(key.can_sign() for key in host_keys())


def test_an_installation_with_one_key_keeps_it_and_gets_the_others():
    line = public_line()

    assert len(host_keys()) == 3
    assert public_line() == line
