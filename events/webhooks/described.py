"""The description of the request to a receiver, for the OpenAPI document."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiWebhook

HEADERS = {
    "webhook-id": "Names the event. Ignore a delivery whose value you have seen: it is repeated.",
    "webhook-timestamp": "The time of sending in seconds since 1970. Refuse it if older than five minutes.",
    "webhook-signature": "`v1,` and a Base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under "
    "your secret. While older secrets are valid, there is one signature for each secret, space-separated.",
}

_RECEIVE: dict[str, object] = {
    "operationId": "receive_event",
    # Clients do not make this call. Without `x-internal`, openapi-generator writes code that cannot compile.
    "x-internal": True,
    "summary": "Receive an event at your own URL",
    "description": "Answer 2xx within ten seconds. After another answer the service tries again for 72 hours "
    "with growing delays. Events of one order arrive in order. An event may arrive more than once.",
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
        "204": {"description": "Accepted. Any 2xx is enough; the body is not read."},
        "4XX": {"description": "Not accepted: the service sends it again later."},
        "5XX": {"description": "Not accepted: the service sends it again later; it respects `Retry-After`."},
    },
}
EVENT = OpenApiWebhook("event", decorator={"post": _RECEIVE})
