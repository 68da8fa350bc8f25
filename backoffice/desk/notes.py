"""Notes on the desk's rows: the assignee, the comments, and the end of a snooze."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from accounts.models import OperatorNote
from backoffice.models import RecordComment
from fulfillments.models import Fulfillment
from orders.models import Order

Key = tuple[str, int]
"""A record's model and id."""
ORDER = Order._meta.label_lower
SHOWN = 3
"""The maximum number of comments shown per row."""
READ = 1_000


@dataclass(frozen=True)
class NoteChange:
    """An operator's change of a note. `assigned_before` is the assignee that the page showed.

    `assigned_to` is None to keep the assignee, and empty to release the row.
    """

    assigned_to: str | None = None
    assigned_before: str = ""
    comment: str = ""
    snooze_hours: int | None = None


class RowTaken(Exception):
    """The row is assigned to another operator. Only the comment is saved."""

    def __init__(self, assignee: str) -> None:
        super().__init__(assignee)
        self.assignee = assignee


def note_key(record: Model) -> Key:
    """Return the record that has the note: for a fulfillment its order, which the desk lists once."""
    if isinstance(record, Fulfillment):
        return ORDER, record.order_id
    return record._meta.label_lower, record.pk


def change_note(record: Model, change: NoteChange, *, by: str) -> None:
    """Apply the change. Raises RowTaken if another operator took the record after the page was shown.

    The note is locked in the database. If two operators take a record at the same moment, only one of them
    becomes the assignee. The comment belongs to the record itself, so that its page shows the comment.
    """
    model, record_id = note_key(record)
    now = timezone.now()
    with transaction.atomic():
        OperatorNote.objects.bulk_create(
            [OperatorNote(model=model, record_id=record_id, by=by, updated_at=now)], ignore_conflicts=True
        )
        note = OperatorNote.objects.select_for_update().get(model=model, record_id=record_id)
        assignee = note.assigned_to
        wanted = assignee if change.assigned_to is None else change.assigned_to
        is_taken = wanted != assignee and assignee not in ("", change.assigned_before)
        if not is_taken:
            note.assigned_to = wanted
        if change.comment:
            about = {"model": record._meta.label_lower, "record_id": record.pk}
            RecordComment(**about, text=change.comment, by=by).save(force_insert=True)
            note.text = change.comment
        if change.snooze_hours is not None and not is_taken:
            hours = change.snooze_hours
            note.snoozed_until = now + timedelta(hours=hours) if hours else None
        note.by, note.updated_at = by, now
        note.save(update_fields=["assigned_to", "text", "snoozed_until", "by", "updated_at"])
    if is_taken:
        raise RowTaken(assignee)


def comments_on(rows: Collection[Key]) -> dict[Key, list[RecordComment]]:
    """Return the latest comments of each record, newest first. Takes one query."""
    found: dict[Key, list[RecordComment]] = {}
    latest = RecordComment.objects.filter(record_id__in=[number for _, number in rows])
    for comment in latest.order_by("-id")[:READ]:
        comments = found.setdefault((comment.model, comment.record_id), [])
        if len(comments) < SHOWN:
            comments.append(comment)
    return found
