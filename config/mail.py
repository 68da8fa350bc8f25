"""Mail settings from one URL, EMAIL_URL. Without it, no mail is sent."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TIMEOUT = 20
"""The time limit for a mail server, in seconds."""


def mail_settings(url: str) -> dict[str, Any]:
    """Return Django's settings for a mail URL. An empty URL disables mail. Raises ImproperlyConfigured.

    `smtp://user:password@host:587` uses STARTTLS, unless it has `?tls=0`. `smtps://…:465` uses implicit TLS.
    """
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"EMAIL_URL cannot be read: {error}.") from error
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured("EMAIL_URL must be smtp://user:password@host:587, or begin with smtps://.")
    implicit_tls = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or (465 if implicit_tls else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": implicit_tls,
        "EMAIL_USE_TLS": not implicit_tls and parse_qs(parts.query).get("tls") != ["0"],
        "EMAIL_TIMEOUT": TIMEOUT,
    }
