"""The description of an operator's action: when it is possible, its effect, and how to undo it.

The same description is used for the button on a record's page, the entry in a list's menu, the page with the
preview, and the job that does the action to many records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar

from django import forms
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Model, QuerySet
from django.utils.html import format_html

from accounts.actors import Actor
from accounts.models import Result
from api.errors import ApiError, database_error

logger = logging.getLogger(__name__)

Record = TypeVar("Record", bound=Model)


class Reason(Enum):
    """The rule for the field "reason" in the form of an action."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


UNDO = "undo"
"""The key in `answers` that is true if the operator undoes an earlier action with this action."""


class NothingChanged(Exception):
    """The record is already in the requested state. The message describes this state."""


def _always(record: object) -> str:
    return ""


@dataclass(frozen=True)
class AdminAction(Generic[Record]):
    """An action that operators can do to a record.

    `run(record, actor, answers)` returns a message for the operator. It raises ApiError or NothingChanged.
    `why_not(record)` returns the reason why the action is not possible, or an empty string. `effect(record)`
    returns a preview. `why_not` and `effect` use no relations except those that the admin prefetches with
    `acts_with`, so many records need few queries. `form(record, sent_data)` builds the form on the action's
    page; an action from a list asks only for a reason. A form without anything to choose sets its attribute
    `why_not`; the page then has no button.
    """

    name: str
    label: str
    run: Callable[[Record, Actor, dict[str, object]], str]
    why_not: Callable[[Record], str]
    effect: Callable[[Record], str] = _always
    form: Callable[[Record, dict[str, object] | None], forms.Form] | None = None
    help_text: str = ""
    reason: Reason = Reason.NONE
    reason_help: str = "Stored in the history. Only operators see it."
    shares_reason: bool = False
    """Whether `run` passes the reason to the parties. Otherwise only operators see it."""
    details: Callable[[Record], str] | None = None
    """More content for the action's page, as safe HTML."""
    danger: bool = False
    bulk: bool = False
    list_label: str = ""
    """The label in the list's menu, if the label of the page's button does not fit many records."""
    in_transaction: bool = True
    """False for an action that calls a remote host. `bulk` needs True, because each row has a transaction."""
    is_final: bool = False
    """Whether the action cannot be undone. On several rows, it needs the typed row count and starts later."""
    acts_on_changed: bool = False
    """Whether the action on many records includes records whose effect has changed since the preview."""
    undone_by: str = ""
    """The name of the action that reverses this action."""
    undo: str = "It cannot be undone."
    amounts: Callable[[QuerySet[Any]], Sequence[tuple[Decimal, str]]] | None = None
    """A function that returns the affected amounts by currency. Its argument selects the record ids."""

    @property
    def label_for_many(self) -> str:
        return self.list_label or self.label

    def is_possible(self, record: Record) -> bool:
        return not self.why_not(record)

    def form_for(self, record: Record | None, sent: dict[str, Any] | None) -> forms.Form:
        """Return the action's form. For many records, `record` is None and the form has only the reason."""
        form = self.form(record, sent) if self.form and record is not None else forms.Form(sent)
        if self.reason is not Reason.NONE and "reason" not in form.fields:
            form.fields["reason"] = forms.CharField(
                max_length=500, required=self.reason is Reason.REQUIRED, help_text=self.reason_help
            )
        return form


def details_paragraph(text: str) -> str:
    """Return a sentence as a paragraph of an action's `details`."""
    return format_html('<p class="ui-help">{}</p>', text)


STALE = "The record was changed while this page was open. Check the preview, then send the form again."


def is_stale(action: AdminAction[Any], record: object, sent: dict[str, Any]) -> bool:
    """Return whether the preview has changed since the page was shown.

    A form without the field `seen_effect`, for example from a script, is never stale.
    """
    seen = sent.get("seen_effect")
    return seen is not None and _differs(action.effect(record), seen)


def why_left_out(action: AdminAction[Any], record: object, seen: str) -> str:
    """Return why an action on many records leaves out a record with another effect than `seen`, or ""."""
    if action.acts_on_changed or not _differs(effect := action.effect(record), seen):
        return ""
    return f"The record was changed after the preview, so nothing was done. The effect would be now: {effect}"


def _differs(effect: str, seen: object) -> bool:
    """Compare two effects without their white space, which a browser may change."""
    return effect.split() != str(seen).split()


def typed_texts(form: forms.Form) -> list[tuple[str, str]]:
    """Return labels and values of the sent fields. The page shows them if the action is not possible."""
    if not form.is_bound:
        return []
    sent = [(field.label, field.value()) for field in form if not field.is_hidden]
    return [(str(label), str(value)) for label, value in sent if value]


class AlreadySubmitted(Exception):
    """Another request or worker has already done this form or row, or the action was stopped."""


SaveResult = Callable[[Result, str], None]
"""Save the result of an action and its message. Raises AlreadySubmitted."""


def perform(
    action: AdminAction[Any], record: object, actor: Actor, answers: dict[str, Any], save_result: SaveResult
) -> tuple[Result, str]:
    """Do an action to a record and save the result. Return the result, and a message for the operator.

    The change and its result are saved in one transaction, unless `in_transaction` is False. A failed action
    saves only its result. If `save_result` raises AlreadySubmitted, nothing is changed, and this function
    raises it, too.
    """
    reason = answers.get("reason", "")
    if reason and not action.shares_reason:
        actor = replace(actor, reason=reason)
    try:
        with transaction.atomic() if action.in_transaction else nullcontext():
            message = action.run(record, actor, dict(answers))
            save_result(Result.DONE, message)
    except AlreadySubmitted:
        raise
    except NothingChanged as unchanged:
        result, message = Result.UNCHANGED, str(unchanged)
    except (ApiError, OperationalError, InterfaceError) as error:
        result, message = Result.REFUSED, failure(error)
    except Exception:  # a bug with one record must not stop the others
        logger.exception("%s of %s failed", action.name, record)
        result = Result.REFUSED
        message = f"The service failed. Its log has the details ({actor.request_id})."
    else:
        return Result.DONE, message
    save_result(result, message)
    return result, message


def failure(error: Exception) -> str:
    """Return the message of an error for an operator."""
    return error.message if isinstance(error, ApiError) else database_error(error).message
