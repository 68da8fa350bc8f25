"""Public keys of FIDO security keys (`sk-`), which paramiko does not support.

A security key signs the hash of its application, its flags, its counter, and the hash of the message, in this
order (OpenSSH's PROTOCOL.u2f).
"""

from __future__ import annotations

from hashlib import sha256
from typing import ClassVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from paramiko import Message, PKey

USER_PRESENT = 0x01
FLAGS_AND_COUNTER = 5  # the length of both together, in bytes


class FidoKey(PKey):  # type: ignore[misc]
    """A public key of a security key. A signature is valid only if the user touched the security key."""

    name: ClassVar[str]
    shown: ClassVar[str]
    """The name of the kind in the output of `ssh-keygen -l`."""

    def __init__(self, msg: Message | None = None, data: bytes | None = None, **_: object) -> None:
        """Read a public key. Raises ValueError if it is malformed."""
        message = msg or Message(data)
        self.public_blob = None
        self._blob: bytes = message.asbytes()
        if message.get_text() != self.name:
            raise ValueError(f"This is not a key of the kind {self.name}.")
        self._read_point(message)
        length, self._application = message.get_int(), message.get_remainder()
        if not length or len(self._application) != length:  # paramiko pads a short string with zeros
            raise ValueError("The key is longer or shorter than its parts.")

    @classmethod
    def identifiers(cls) -> list[str]:
        return [cls.name]

    def asbytes(self) -> bytes:
        return self._blob

    def get_name(self) -> str:
        return self.name

    def get_bits(self) -> int:
        return 256

    @property
    def algorithm_name(self) -> str:
        return self.shown

    def can_sign(self) -> bool:
        return False

    def verify_ssh_sig(self, data: bytes, msg: Message) -> bool:
        """Return whether this key signed the data and was touched by its user."""
        try:
            kind, signature, rest = msg.get_text(), msg.get_binary(), msg.get_remainder()
            if kind != self.name or len(rest) != FLAGS_AND_COUNTER or not rest[0] & USER_PRESENT:
                return False
            self._verify(signature, sha256(self._application).digest() + rest + sha256(data).digest())
        except (InvalidSignature, ValueError):
            return False
        return True

    def _read_point(self, message: Message) -> None:
        raise NotImplementedError

    def _verify(self, signature: bytes, signed: bytes) -> None:
        """Raise InvalidSignature or ValueError unless the signature is valid."""
        raise NotImplementedError


class FidoEd25519Key(FidoKey):
    """A security key of the kind `ed25519-sk`."""

    name = "sk-ssh-ed25519@openssh.com"
    shown = "ED25519-SK"

    def _read_point(self, message: Message) -> None:
        self._key = Ed25519PublicKey.from_public_bytes(message.get_binary())

    def _verify(self, signature: bytes, signed: bytes) -> None:
        self._key.verify(signature, signed)


class FidoEcdsaKey(FidoKey):
    """A security key of the kind `ecdsa-sk`."""

    name = "sk-ecdsa-sha2-nistp256@openssh.com"
    shown = "ECDSA-SK"

    def _read_point(self, message: Message) -> None:
        if message.get_text() != "nistp256":
            raise ValueError("The curve is not nistp256.")
        self._key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), message.get_binary())

    def _verify(self, signature: bytes, signed: bytes) -> None:
        parts = Message(signature)
        r, s = parts.get_mpint(), parts.get_mpint()
        self._key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))


FIDO_KEYS = {kind.name: kind for kind in (FidoEd25519Key, FidoEcdsaKey)}
