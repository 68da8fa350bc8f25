"""Actions of members on a message of operators."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.models import ContactMessage
from accounts.operating import contact_messages
from accounts.operating.operator_actions import AdminAction, NothingChanged


class MessageAnswerForm(forms.Form):
    """The form of a member's answer to a message of the operators."""

    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 6}), label="Your answer")


def _answer(message: ContactMessage, by: Actor, answers: dict[str, Any]) -> str:
    contact_messages.answer(message, answers["text"], by=by)
    return "Your answer was sent to the operators."


def _close(message: ContactMessage, by: Actor, answers: dict[str, Any]) -> str:
    if not contact_messages.close(message):
        raise NothingChanged("This message is already done.")
    return "The message is done."


ACTIONS = (
    AdminAction[ContactMessage](
        "answer",
        "Send answer",
        _answer,
        lambda message: "",
        lambda message: f"Your answer to: {message}",
        form=lambda message, sent: MessageAnswerForm(sent),
        help_text="The operators read the answer beside their message. They see your name.",
        undo="Send another answer.",
    ),
    AdminAction[ContactMessage](
        "done",
        "Mark as done",
        _close,
        lambda message: "This message is already done." if message.done_at else "",
        lambda message: f"{message} leaves the list of open messages, without an answer.",
        undo="Send an answer at any time.",
    ),
)
