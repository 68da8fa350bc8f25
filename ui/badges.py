"""States as badges: their words, and the meaning of their color."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

MEANINGS = {
    "good": {"shipped", "completed", "succeeded", "done", "delivered", "on"},
    "bad": {
        "exception",
        "wrong_address",
        "out_of_stock",
        "missing_sku",
        "failed",
        "dead",
        "overdue",
        "refused",
        "failing",
        "silent",
    },
    "warn": {
        "canceling",
        "cancelation_not_allowed",
        "held",
        "awaiting_approval",
        "succeeded_with_errors",
        "suspended",
        "waiting",
    },
    "info": {
        "new",
        "received",
        "accepted",
        "processing",
        "running",
        "queued",
        "partially_shipped",
        "dry run",
    },
}
WORDS = {"succeeded_with_errors": "Completed with errors", "cancelation_not_allowed": "Cancellation refused"}
INITIALS = {"sku": "SKU", "upc": "UPC", "api": "API", "sftp": "SFTP"}


def state_words(state: str) -> str:
    """Return a state in words: `missing_sku` is "Missing SKU"."""
    if named := WORDS.get(state.replace(" ", "_")):
        return named
    words = " ".join(INITIALS.get(word, word) for word in state.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def badge(state: object, meaning: str = "") -> SafeString:
    """Return a badge. Without a meaning (`good`, `bad`, `warn`, `info`), the state decides the color."""
    text = str(state)
    name = text if text == "dry run" else text.replace(" ", "_")
    known = meaning or next((color for color, states in MEANINGS.items() if name in states), "")
    shown = format_html(" ui-{}", known) if known else ""
    return format_html('<span class="ui-badge{}">{}</span>', shown, state_words(text))
