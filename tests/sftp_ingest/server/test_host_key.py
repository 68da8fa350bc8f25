"""The key by which clients know the server."""

from __future__ import annotations

from sftp_ingest.server.host_key import host_key, public_line


def test_the_host_key_is_made_once_and_for_its_owner_alone(settings):
    line = public_line()

    assert line.startswith("ssh-ed25519 AAAA")
    assert public_line() == line
    assert (settings.DATA_DIR / "sftp_host_key").stat().st_mode & 0o777 == 0o600
    assert len(list(settings.DATA_DIR.iterdir())) == 1
    assert host_key().can_sign()
