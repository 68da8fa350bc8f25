"""The headers of answers."""

from __future__ import annotations

from typing import Any

COMPONENTS: dict[str, dict[str, Any]] = {
    "XRequestId": {
        "description": "The request's id: your own `X-Request-Id`, or a new one. Quote it to ask for help.",
        "schema": {"type": "string", "maxLength": 100},
    },
    "RateLimitLimit": {
        "description": "How many requests the key may make in a window.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "RateLimitRemaining": {
        "description": "How many of them are left.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimitReset": {
        "description": "Seconds until all of them are there again.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimitPolicy": {
        "description": 'The limit as the IETF\'s draft has it: `"key";q=6000;w=60`.',
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'What is left, and for how many seconds: `"key";r=5999;t=60`.',
        "schema": {"type": "string"},
    },
    "Location": {"description": "The address of the object.", "schema": {"type": "string", "format": "uri"}},
    "Link": {
        "description": 'Other pages (RFC 8288): `<…>; rel="next"`, `<…>; rel="prev"`.',
        "schema": {"type": "string"},
    },
    "ETag": {
        "description": "Names this version of the answer; send it back as `If-None-Match`.",
        "schema": {"type": "string"},
    },
    "RetryAfter": {
        "description": "Seconds to wait before you try again.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "WWWAuthenticate": {"description": "How to authenticate.", "schema": {"type": "string"}},
    "IdempotentReplayed": {
        "description": "`true` where this is the kept answer to an earlier request with this key.",
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
# Answers whose key nobody knows yet, or that no request reached the counting for.
UNCOUNTED = ("401", "500", "503")
LOCATED = ("create", "push")


def headers_of(status: str, *, method: str, action: str, many: bool, cached: bool) -> dict[str, Any]:
    """The headers of an answer, as references to their components."""
    keys = list(ALWAYS)
    if status not in UNCOUNTED:
        keys += WITH_KEY
    if status in ("429", "503"):
        keys.append("RetryAfter")
    if status == "401":
        keys.append("WWWAuthenticate")
    if status.startswith("2"):
        if method == "POST":
            keys.append("IdempotentReplayed")
        if method == "POST" and action in LOCATED and (status == "201" or action == "push"):
            keys.append("Location")
        if many:
            keys.append("Link")
    if cached and status in ("200", "304"):
        keys.append("ETag")
    return {NAMES.get(key, key): {"$ref": f"#/components/headers/{key}"} for key in keys}
