"""Answers of parties to the messages of operators. The timelines of the records show both."""

from __future__ import annotations

from uuid import uuid4

from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ContactMessage

BY_MEMBER = "member:"


def answer(message: ContactMessage, text: str, *, by: Actor) -> ContactMessage:
    """Store a member's answer beside its message, and close the thread. Call it in a transaction."""
    stored = ContactMessage.objects.create(
        model=message.model,
        record_id=message.record_id,
        contact=message.contact,
        is_answer=True,
        text=text,
        by=by.name,
        form_id=uuid4(),
    )
    close(message)
    return stored


def close(message: ContactMessage) -> int:
    """Mark the open messages of a thread as done, and return their number."""
    return ContactMessage.objects.to_answer().in_thread(message).update(done_at=timezone.now())


def is_from_portal(answer: ContactMessage) -> bool:
    """Return whether a member wrote the answer. Operators record the other answers."""
    return answer.by.startswith(BY_MEMBER)
