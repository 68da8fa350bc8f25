"""Security keys: their lines, and logins with their signatures."""

from __future__ import annotations

from hashlib import sha256

import paramiko
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from paramiko import Message

from sftp_ingest.fido_keys import FIDO_KEYS, FidoEcdsaKey, FidoEd25519Key, FidoKey
from sftp_ingest.keys import fingerprints, parse_public_key, parse_public_keys
from sftp_ingest.server.algorithms import ServerTransport

TOUCHED, UNTOUCHED = b"\x01", b"\x00"
COUNTER = b"\x00\x00\x00\x07"


class SecurityKey(paramiko.PKey):  # type: ignore[misc]
    """A client's security key of either kind, made in software. It signs as OpenSSH describes."""

    def __init__(self, kind: type[FidoKey], flags: bytes = TOUCHED) -> None:
        self.public_blob, self.kind, self.flags = None, kind, flags
        self.edwards, self.curve = Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
        parts = Message()
        parts.add_string(kind.name)
        if kind is FidoEd25519Key:
            parts.add_string(self.edwards.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        else:
            parts.add_string("nistp256")
            point = self.curve.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            parts.add_string(point)
        parts.add_string("ssh:")
        self.blob: bytes = parts.asbytes()

    def asbytes(self) -> bytes:
        return self.blob

    def get_name(self) -> str:
        return self.kind.name

    def can_sign(self) -> bool:
        return True

    def sign_ssh_data(self, data: bytes, algorithm: str | None = None) -> Message:
        signed = sha256(b"ssh:").digest() + self.flags + COUNTER + sha256(data).digest()
        if self.kind is FidoEd25519Key:
            signature = self.edwards.sign(signed)
        else:
            numbers = Message()
            for number in decode_dss_signature(self.curve.sign(signed, ec.ECDSA(SHA256()))):
                numbers.add_mpint(number)
            signature = bytes(numbers.asbytes())
        message = Message()
        message.add_string(self.get_name())
        message.add_string(signature)
        message.add_bytes(self.flags + COUNTER)
        return message

    @property
    def line(self) -> str:
        return f"{self.get_name()} {self.get_base64()} anna"


both_kinds = pytest.mark.parametrize("kind", [FidoEd25519Key, FidoEcdsaKey])


def verified(key: SecurityKey, data: bytes, signature: Message) -> bool:
    (public,) = parse_public_keys(key.line)
    return bool(public.verify_ssh_sig(data, Message(signature.asbytes())))


@both_kinds
def test_a_signature_counts_only_for_its_data_its_key_and_a_touch(kind):
    key = SecurityKey(kind)
    signature = key.sign_ssh_data(b"hello")

    assert verified(key, b"hello", signature)
    assert not verified(key, b"hullo", signature)
    assert not verified(SecurityKey(kind), b"hello", signature)
    assert not verified(key, b"hello", Message(signature.asbytes() + b"more"))
    assert not verified(key, b"hello", Message(signature.asbytes()[:-5]))
    key.flags = UNTOUCHED
    assert not verified(key, b"hello", key.sign_ssh_data(b"hello"))


@both_kinds
def test_a_random_signature_does_not_count(kind):
    key = SecurityKey(kind)
    for noise in (b"", b"\x00\x00\x00\x01\xff", key.sign_ssh_data(b"x").asbytes()[:40]):
        assert not verified(key, b"x", Message(noise))


@both_kinds
def test_a_line_is_shown_with_its_kind_and_read_only_when_whole(kind):
    key = SecurityKey(kind)

    assert fingerprints(key.line) == [f"{key.fingerprint} ({kind.shown})"]
    with pytest.raises(ValueError, match="supported kind"):
        parse_public_key(key.line)  # a host's key cannot be a security key
    for part in (key.blob[:-3], key.blob[:40], key.blob + b"more", b""):
        key.blob = part
        with pytest.raises(ValueError, match="supported kind"):
            parse_public_keys(key.line)


@both_kinds
@pytest.mark.parametrize("flags", [TOUCHED, UNTOUCHED])
@pytest.mark.django_db(transaction=True)
def test_a_client_logs_in_with_a_touched_key(server, acme, login_of, connect, monkeypatch, kind, flags):
    key = SecurityKey(kind, flags)
    login_of(acme, public_keys=key.line)
    monkeypatch.setattr(paramiko.Transport, "_preferred_pubkeys", ServerTransport._preferred_pubkeys)

    if flags == TOUCHED:
        assert "products" in connect(server, "acme", pkey=key).open_sftp().listdir()
    else:
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, "acme", pkey=key)
    assert kind.name in FIDO_KEYS
