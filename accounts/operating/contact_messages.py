"""Answers of parties to the messages of operators. The timelines of the records show both."""

from __future__ import annotations

from uuid import uuid4

from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ContactMessage
from accounts.models.contact_message import BY_MEMBER


def answer(message: ContactMessage, text: str, *, by: Actor) -> ContactMessage:
    """Store a member's answer, and mark the messages of the thread as done. Call this in a transaction."""
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
    """Mark the unanswered messages in the message's thread as done. Return how many were marked."""
    return ContactMessage.objects.to_answer().in_thread(message).update(done_at=timezone.now())


def mark_read(message: ContactMessage, *, newest: int | None = None) -> int:
    """Mark the unread answers in the message's thread as read. Return how many were marked.

    `newest` is the newest message that the operator's page showed. Later answers stay unread.
    """
    answers = ContactMessage.objects.unread_answers().in_thread(message)
    if newest is not None:
        answers = answers.filter(pk__lte=newest)
    return answers.update(done_at=timezone.now())


def newest_about(model: str, record_id: int) -> int:
    """Return the id of the newest message or answer about a record, or 0."""
    about = ContactMessage.objects.filter(model=model, record_id=record_id).order_by("-pk")
    return about.values_list("pk", flat=True).first() or 0


def is_from_portal(answer: ContactMessage) -> bool:
    """Return whether a member wrote the answer. Operators record the other answers."""
    return answer.by.startswith(BY_MEMBER)
