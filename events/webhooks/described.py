"""What a receiver gets, as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiWebhook

HEADERS = {
    "webhook-id": "Names the event, the same however often it is sent: what you have seen, you may ignore.",
    "webhook-timestamp": "When it was sent, in seconds since 1970. Refuse what is older than five minutes.",
    "webhook-signature": "`v1,` and a Base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under "
    "your secret; while two secrets count, two of these, space-separated.",
}

_RECEIVE: dict[str, Any] = {
    "operationId": "receive_event",
    # Not a call that clients make: openapi-generator would write one, and one that does not compile.
    "x-internal": True,
    "summary": "An event, sent to your own address",
    "description": "Answer 2xx within ten seconds; anything else is tried again for 72 hours, with growing "
    "delays. Events of one order come in their order. Each may come more than once.",
    "security": [],
    "parameters": [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": description,
            "schema": {"type": "string", "maxLength": 500},
        }
        for name, description in HEADERS.items()
    ],
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Event"}}},
    },
    "responses": {
        "204": {"description": "Taken. Any 2xx will do; what it says is not read."},
        "4XX": {"description": "Not taken: it is sent again later."},
        "5XX": {"description": "Not taken: it is sent again later, after `Retry-After` where you give one."},
    },
}
EVENT = OpenApiWebhook("event", decorator={"post": _RECEIVE})
