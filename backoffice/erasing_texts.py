"""Texts of the back office that may contain data of a consumer.

The erasure of an order searches these texts for copies of the consumer's data.
"""

from __future__ import annotations

from urllib.parse import unquote_plus

from accounts.models import ContactMessage, SavedView
from backoffice.models import RecordComment
from orders.erasing_copies.rows import SearchTexts, TextsOnRecords

MESSAGES = TextsOnRecords("messages", ContactMessage, ("subject", "text"))
COMMENTS = TextsOnRecords("comments", RecordComment, ("text",))
SAVED_VIEWS = SearchTexts("saved views", SavedView.objects.all, "query", unquote_plus)
