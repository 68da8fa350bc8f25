"""The body and the signed headers of a delivery."""

from __future__ import annotations

import time
from collections.abc import Sequence

from accounts.scopes import Role
from api.renderers import encode
from events.models import Event
from events.serializers import event_json
from events.webhooks.signing import message_id, sign

FIXED = [("Content-Type", "application/json"), ("User-Agent", "Exchange-Webhooks/1")]


def body_of(event: Event, reader: Role) -> bytes:
    """Return the event as JSON, in the form that this role sees in the event feed."""
    return encode(event_json(event, reader))


def headers_of(event_id: int, body: bytes, keys: Sequence[bytes]) -> list[tuple[str, str]]:
    """Return the headers of a delivery that is sent now."""
    name, now = message_id(event_id), int(time.time())
    return [
        *FIXED,
        ("webhook-id", name),
        ("webhook-timestamp", str(now)),
        ("webhook-signature", sign(keys, name, now, body)),
    ]
