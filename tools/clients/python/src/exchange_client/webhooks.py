"""The check of a delivery's signature by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping

from exchange_client.models import Event
from exchange_client.values import read_json

TOLERANCE = 300


class InvalidSignature(Exception):
    """The error for a delivery that is not from the Exchange. Answer such a delivery with 401."""


def verify(
    secrets: str | Iterable[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> Event:
    """Check the signature of a delivery and return its event.

    `secrets` is the webhook's `whsec_…`, or both secrets during a rotation. `body` is the unchanged bytes.
    Raises InvalidSignature if no secret fits, or if the delivery's time is more than `tolerance` seconds in
    the past or in the future. Ignore a delivery whose header `webhook-id` you have seen.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        identity, stamp = given["webhook-id"], given["webhook-timestamp"]
        signatures = given["webhook-signature"].split()
        age = (time.time() if now is None else now) - int(stamp)
    except (KeyError, ValueError) as error:
        raise InvalidSignature("a header is missing or unreadable") from error
    if not abs(age) <= tolerance:
        raise InvalidSignature("the delivery is too old, or from the future")
    signed = f"{identity}.{stamp}.".encode() + body
    right = [_signature(secret, signed) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    # Compare all signatures, each in constant time, so that the duration reveals nothing.
    fits = [hmac.compare_digest(each.encode(), one) for each in signatures for one in right]
    if not any(fits):
        raise InvalidSignature("no signature fits")
    event: Event = read_json(body)
    return event


def _signature(secret: str, signed: bytes) -> bytes:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
