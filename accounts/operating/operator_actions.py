"""One thing that operators can do to a record: whether it can be done, what it does, how it is undone.

The same description makes the button on a record's page, the row of a list's menu, the page that says what
will happen, and the job that does it to ten thousand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from django import forms
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Model

from accounts.actors import Actor
from accounts.models import Result
from api.errors import ApiError, database_error

logger = logging.getLogger(__name__)

Record = TypeVar("Record", bound=Model)


class Reason(Enum):
    """Whether an operator has to say why."""

    NONE = "none"
    MAY = "may"
    OWED = "owed"


class NothingChanged(Exception):
    """What was asked for is so already; the message says what is."""


def _always(record: Any) -> str:
    return ""


@dataclass(frozen=True)
class AdminAction(Generic[Record]):
    """One thing to do.

    `run(record, actor, answers)` returns a message for the operator, or raises ApiError, or NothingChanged.
    `why_not(record)` says why it cannot be done, and nothing where it can; `effect(record)` what it would do.
    Both read what the admin's `acts_with` has fetched along, so that ten thousand cost no query each.
    `form`, called with the record and what was sent, asks beforehand; a list can only do what has none.
    A form that has looked for choices and found none says so in its `why_not`: its page then has no button.
    """

    name: str
    label: str
    run: Callable[[Record, Actor, dict[str, Any]], str]
    why_not: Callable[[Record], str]
    effect: Callable[[Record], str] = _always
    form: Callable[[Record, dict[str, Any] | None], forms.Form] | None = None
    help_text: str = ""
    reason: Reason = Reason.NONE
    reason_help: str = "Kept in the history; operators read it."
    shares_reason: bool = False
    """Whether `run` gives the reason to the parties; else it is kept for operators alone."""
    details: Callable[[Record], str] | None = None
    """What else its page shows, as safe HTML."""
    danger: bool = False
    bulk: bool = False
    list_label: str = ""
    """What it is called where it is done to many, if that is less than what the page's form does."""
    in_transaction: bool = True
    """Off where it waits for somebody else's machine; not with `bulk`, whose rows have one always."""
    undone_by: str = ""
    """The action that puts things back."""
    undo: str = "It cannot be undone."

    @property
    def label_for_many(self) -> str:
        return self.list_label or self.label

    def is_possible(self, record: Record) -> bool:
        return not self.why_not(record)

    def form_for(self, record: Record | None, sent: dict[str, Any] | None) -> forms.Form:
        """What has to be answered; for a list (no record) the reason alone."""
        form = self.form(record, sent) if self.form and record is not None else forms.Form(sent)
        if self.reason is not Reason.NONE and "reason" not in form.fields:
            form.fields["reason"] = forms.CharField(
                max_length=500, required=self.reason is Reason.OWED, help_text=self.reason_help
            )
        return form


class Taken(Exception):
    """What was to be done is another's, or is not wanted any more."""


Keep = Callable[[Result, str], None]
"""Writes down what came of it; raises Taken where that must not be."""


def perform(
    action: AdminAction[Any], record: Any, actor: Actor, answers: dict[str, Any], keep: Keep
) -> tuple[Result, str]:
    """Do it, and keep what came of it, in words for the operator.

    What is done and that it is kept are one transaction, unless the action is to be in none: neither is
    there without the other. What fails leaves nothing else behind. Raises Taken, and leaves nothing at all,
    where `keep` does.
    """
    reason = answers.get("reason", "")
    if reason and not action.shares_reason:
        actor = replace(actor, reason=reason)
    try:
        with transaction.atomic() if action.in_transaction else nullcontext():
            message = action.run(record, actor, dict(answers))
            keep(Result.DONE, message)
    except Taken:
        raise
    except NothingChanged as unchanged:
        result, message = Result.UNCHANGED, str(unchanged)
    except (ApiError, OperationalError, InterfaceError) as error:
        result, message = Result.REFUSED, failure(error)
    except Exception:  # a fault of ours with one record keeps none of the others waiting
        logger.exception("%s of %s failed", action.name, record)
        result = Result.REFUSED
        message = f"It failed by a fault of the service: its log says why ({actor.request_id})."
    else:
        return Result.DONE, message
    keep(result, message)
    return result, message


def failure(error: Exception) -> str:
    """An error in words for an operator."""
    return error.message if isinstance(error, ApiError) else database_error(error).message
