"""The headers of answers."""

from __future__ import annotations

COMPONENTS: dict[str, dict[str, object]] = {
    "XRequestId": {
        "description": "The request's id: your `X-Request-Id`, or a new one. Quote it when you ask for help.",
        "schema": {"type": "string", "maxLength": 100},
    },
    "RateLimitLimit": {
        "description": "The number of requests that the key may make in a window. Without a valid key: the "
        "number of wrong keys that the address may try.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "RateLimitRemaining": {
        "description": "The number of requests left in this window.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimitReset": {
        "description": "Seconds until the window ends and all requests are available again.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimitPolicy": {
        "description": 'The limit in the form of the IETF draft: `"key";q=6000;w=60`.',
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'The requests left, and the seconds of the window: `"key";r=5999;t=60`.',
        "schema": {"type": "string"},
    },
    "Location": {"description": "The address of the object.", "schema": {"type": "string", "format": "uri"}},
    "Link": {
        "description": 'Other pages (RFC 8288): `<…>; rel="next"`, `<…>; rel="prev"`.',
        "schema": {"type": "string"},
    },
    "ETag": {
        "description": "Names this version of the object; send it back as `If-None-Match` or `If-Match`.",
        "schema": {"type": "string"},
    },
    "RetryAfter": {
        "description": "Seconds to wait before you try again.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "WWWAuthenticate": {"description": "How to authenticate.", "schema": {"type": "string"}},
    "IdempotentReplayed": {
        "description": "`true` if this is the stored answer to an earlier request with this key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}
NAMES = {
    "XRequestId": "X-Request-Id",
    "RateLimitLimit": "RateLimit-Limit",
    "RateLimitRemaining": "RateLimit-Remaining",
    "RateLimitReset": "RateLimit-Reset",
    "RateLimitPolicy": "RateLimit-Policy",
    "RetryAfter": "Retry-After",
    "WWWAuthenticate": "WWW-Authenticate",
    "IdempotentReplayed": "Idempotent-Replayed",
}
ALWAYS = ("XRequestId",)
WITH_KEY = ("RateLimitLimit", "RateLimitRemaining", "RateLimitReset", "RateLimitPolicy", "RateLimit")
# The statuses of errors that may occur before the request is counted.
UNCOUNTED = ("500", "503")
LOCATED = ("create", "push")


def headers_of(
    status: str, *, method: str, action: str, replayed: bool, many: bool, cached: bool
) -> dict[str, object]:
    """Return the headers of an answer as references to their components.

    `replayed` says whether the operation accepts an Idempotency-Key.
    """
    keys = list(ALWAYS)
    if status not in UNCOUNTED:
        keys += WITH_KEY
    if status in ("429", "503"):
        keys.append("RetryAfter")
    if status == "401":
        keys.append("WWWAuthenticate")
    if status.startswith("2"):
        if replayed:
            keys.append("IdempotentReplayed")
        if method == "POST" and action in LOCATED and (status == "201" or action == "push"):
            keys.append("Location")
        if many:
            keys.append("Link")
    if cached and status in ("200", "201", "304"):
        keys.append("ETag")
    return {NAMES.get(key, key): {"$ref": f"#/components/headers/{key}"} for key in keys}
