"""Where mail is handed in: one URL, as for the database. Without it no mail is sent."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TIMEOUT = 20
"""Seconds for which a mail server may be silent."""


def mail_settings(url: str) -> dict[str, Any]:
    """Django's settings for `smtp://user:password@host:587` (with STARTTLS, but for `?tls=0`), for
    `smtps://…:465` (TLS from the start), and for nothing. Raises ImproperlyConfigured.
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
    at_once = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or (465 if at_once else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": at_once,
        "EMAIL_USE_TLS": not at_once and parse_qs(parts.query).get("tls") != ["0"],
        "EMAIL_TIMEOUT": TIMEOUT,
    }
