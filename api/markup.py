"""The plain text of markup."""

from __future__ import annotations

from html import unescape

from django.utils.html import strip_tags


def text_of(markup: str) -> str:
    """Return the text that a browser shows for this markup, without its tags and character references."""
    return unescape(strip_tags(markup))
