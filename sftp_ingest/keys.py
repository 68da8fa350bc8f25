"""Public SSH keys in the format of authorized_keys."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramiko import PKey

MIN_RSA_BITS = 2048


def parse_public_key(line: str) -> PKey:
    """Parse a line such as `ssh-ed25519 AAAA… comment`. Raises ValueError with the reason."""
    from paramiko import PKey  # import late: paramiko needs 20 MB of memory

    return _parse(line, PKey.from_type_string)


def parse_public_keys(text: str) -> list[PKey]:
    """Parse a login's keys, one per line. Empty lines and lines that begin with # are skipped."""
    return [_parse_login_key(line) for line in _lines(text)]


def _parse_login_key(line: str) -> PKey:
    """Parse a login's key, which may be a FIDO security key. Host keys cannot be FIDO security keys."""
    return _parse(line, _read_login_key)


def _read_login_key(kind: str, blob: bytes) -> PKey:
    from paramiko import PKey  # import late: paramiko needs 20 MB of memory

    from sftp_ingest.fido_keys import FIDO_KEYS  # import late: `fido_keys` imports paramiko

    return FIDO_KEYS[kind](data=blob) if kind in FIDO_KEYS else PKey.from_type_string(kind, blob)


def _parse(line: str, read: Callable[[str, bytes], PKey]) -> PKey:
    # Import here: paramiko needs 20 MB of memory in each process that imports it.
    from paramiko.pkey import UnknownKeyType
    from paramiko.ssh_exception import SSHException

    words = line.split(None, 2)
    if len(words) < 2:
        raise ValueError("Write a public key as `ssh-ed25519 AAAA… comment`, on one line.")
    try:
        key = read(words[0], base64.b64decode(words[1], validate=True))
    except (binascii.Error, SSHException, UnknownKeyType, ValueError, IndexError, OverflowError) as error:
        raise ValueError(f"{line[:40]}… is not a public key of a supported kind.") from error
    if key.get_name() == "ssh-rsa" and key.get_bits() < MIN_RSA_BITS:
        raise ValueError(f"{line[:40]}… is an RSA key with fewer than {MIN_RSA_BITS} bits.")
    return key


def fingerprints(text: str) -> list[str]:
    """Return the fingerprint of each key in the form of `ssh-keygen -l`: `SHA256:… (ED25519)`."""
    shown = []
    for line in _lines(text):
        try:
            key = _parse_login_key(line)
        except ValueError:  # a script may store a key that the admin refuses
            shown.append("unreadable key")
        else:
            shown.append(f"{key.fingerprint} ({key.algorithm_name})")
    return shown


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
