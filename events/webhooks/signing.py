"""Signatures of the Standard Webhooks specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable

PREFIX = "whsec_"


def key_of(secret: str) -> bytes:
    """Return the signing key of a secret in the form `whsec_…`."""
    return base64.b64decode(secret.removeprefix(PREFIX))


def sign(keys: Iterable[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the `webhook-signature` header: one signature for each key, space-separated."""
    content = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    signatures = (base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in keys)
    return " ".join(f"v1,{signature}" for signature in signatures)


def message_id(event_id: int) -> str:
    """Return the `webhook-id` of an event. It is the same in every attempt."""
    return f"evt_{event_id}"
