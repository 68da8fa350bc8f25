"""Operators' actions on many records: choose the rows, check them, confirm the action, do it row by row.

The table of actions is the queue. A worker leases an action, works on it for a few seconds, and then takes
the next action. A worker reads many records together, but changes each record in a separate transaction,
together with the row's result. Locks are therefore held only for one record, and a killed worker loses
nothing and does nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import IntegrityError, connection, transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.actors import Actor
from accounts.models import OperatorAction, OperatorActionRow, Result
from accounts.operating import final_actions, operator_actions, second_operator
from accounts.operating.acting import Acting
from accounts.operating.operator_actions import UNDO, AdminAction, AlreadySubmitted, SaveResult, perform
from api.markup import text_of
from fastdb import leased
from fastdb.updates import update

RUN_TASK = "accounts.tasks.run_operator_action"
MOST = 1_000_000  # the largest number of rows of one action
AT_ONCE = 1.5  # seconds of work in the operator's request; a worker does the rest
SLICE = 4.0  # seconds of work until a worker takes the next action
AT_WORK = 2  # the maximum of actions in progress at the same time, so that other worker threads stay free
PAGE = 500
AT_HAND = 50  # the number of records that a worker reads together, and then changes one by one
UNCONFIRMED = timedelta(days=1)  # the age at which an action that no one confirmed is deleted
UNAPPROVED = timedelta(days=7)  # the time after which an unanswered request for approval is deleted
NOT_ENDED = "It has not ended yet."
GONE = "The record does not exist any more."


class TooMany(Exception):
    """More rows were chosen than one action may have."""


class NotChooser(Exception):
    """An operator tried to confirm another operator's action."""


class OwnAction(Exception):
    """The operator who chose an action tried to approve it."""


def choose(
    admin: Acting,
    action: AdminAction[Any],
    subjects: QuerySet[Any],
    *,
    by: Actor,
    chosen_from: str = "",
    undoes: int | None = None,
) -> OperatorAction:
    """Store the chosen records as rows, in one statement. Raises TooMany."""
    chosen_rows = subjects.order_by("pk").values("pk")[: MOST + 1]
    about = {"label": action.label_for_many, "chosen_from": chosen_from[:2000], "undoes_id": undoes}
    with transaction.atomic():
        chosen = _create(admin.model, action, by, **about)
        chosen.total = _store_rows(chosen, chosen_rows)
        if chosen.total > MOST:
            raise TooMany
        chosen.save(update_fields=["total"])
    return chosen


def _create(model: type[Model], action: AdminAction[Any], by: Actor, **fields: object) -> OperatorAction:
    return OperatorAction.objects.create(
        model=model._meta.label_lower,
        action=action.name,
        actor=by.name,
        request_id=by.request_id,
        **fields,
    )


def _store_rows(chosen: OperatorAction, chosen_rows: QuerySet[Any]) -> int:
    try:
        sql, parameters = chosen_rows.query.sql_with_params()
    except EmptyResultSet:  # the condition can match no record, for example an empty list of ids
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO accounts_operatoractionrow (action_id, record_id, name, effect, result, message)
            SELECT %s, chosen_rows.*, '', '', '', '' FROM ({sql}) chosen_rows
            """,  # noqa: S608 - written by the ORM
            [chosen.pk, *parameters],
        )
        return int(cursor.rowcount)


def confirm(
    chosen: OperatorAction, action: AdminAction[Any], answers: dict[str, object], *, by: Actor
) -> bool:
    """Start a checked action, or ask a second operator to approve it. Raises NotChooser.

    Return False if the action was already confirmed or stopped. Only the operator who chose the action may
    confirm it, because its changes are recorded under this operator's name.
    """
    if by.name != chosen.actor:
        raise NotChooser(f"{chosen.actor} chose this action, so only {chosen.actor} can confirm it.")
    rows = chosen.counts()["possible"]
    if second_operator.is_needed(chosen, action, rows):
        moments = {"requested_at": timezone.now()}
    else:
        moments = _start(action, rows)
    waiting = OperatorAction.objects.filter(
        pk=chosen.pk, requested_at=None, confirmed_at=None, finished_at=None
    )
    confirmed = waiting.exclude(looked_at=None).update(
        **moments, answers=answers, reason=answers.get("reason", "")
    )
    chosen.refresh_from_db()
    return bool(confirmed)


def _start(action: AdminAction[Any], rows: int) -> dict[str, Any]:
    return {"confirmed_at": timezone.now(), "starts_at": final_actions.starts_at(action, rows)}


def approve(chosen: OperatorAction, action: AdminAction[Any], *, by: Actor) -> bool:
    """Start an action as the second operator, after the first operator has confirmed it. Raises OwnAction.

    Return False if the action does not wait for an approval. To refuse an action, call `stop`.
    """
    if by.name == chosen.actor:
        raise OwnAction("You chose this action, so another operator has to approve it.")
    waiting = OperatorAction.objects.filter(pk=chosen.pk, confirmed_at=None, finished_at=None)
    approved = waiting.exclude(requested_at=None).update(
        **_start(action, chosen.counts()["possible"]), approved_by=by.name
    )
    chosen.refresh_from_db()
    return bool(approved)


def stop(chosen: OperatorAction, *, by: Actor) -> None:
    """Stop an action. Rows that are done stay done; an action that has not started changes nothing."""
    now = timezone.now()
    running = OperatorAction.objects.filter(pk=chosen.pk, finished_at=None)
    not_started = running.filter(Q(confirmed_at=None) | Q(starts_at__gt=now))
    not_started.update(stopped_at=now, stopped_by=by.name, finished_at=now)
    running.filter(stopped_at=None).update(stopped_at=now, stopped_by=by.name)
    chosen.refresh_from_db()


def record_single(
    action: AdminAction[Any],
    record: Any,
    *,
    by: Actor,
    answers: dict[str, Any],
    form_id: UUID | None = None,
) -> tuple[Result, str]:
    """Do an action to one record now, and store its actor and its result. Return the result and a message.

    A form that is sent twice (by a double click, or by the browser's back button) is done once: the stored
    action has the form's unique id, and is saved in the same transaction as the change. An action without a
    transaction is stored before it begins.
    """
    about = {"label": action.label, "total": 1, "reason": answers.get("reason", "")}
    times = dict.fromkeys(("looked_at", "confirmed_at"), timezone.now())
    write = partial(_write_single, partial(_create, type(record), action, by, **about, **times), record)

    def save_result(result: Result, message: str) -> None:
        if result is not Result.DONE and was_sent(form_id):
            raise AlreadySubmitted
        write(result, message, form_id if result is Result.DONE else None)

    save: SaveResult = save_result
    try:
        if not action.in_transaction:
            save = partial(_finish_single, write("", NOT_ENDED, form_id))
        return perform(action, record, by, answers, save)
    except AlreadySubmitted:
        return Result.UNCHANGED, was_sent(form_id)


def _write_single(
    create: Callable[..., OperatorAction],
    record: Model,
    result: Result | Literal[""],
    message: str,
    form_id: UUID | None,
) -> OperatorActionRow:
    """Store an action on one record. Raises AlreadySubmitted if an action of this form is stored."""
    row = OperatorActionRow(record_id=record.pk, name=str(record)[:300], why_not="", result=result)
    row.message = _as_text(message)
    try:
        with transaction.atomic():
            row.action = create(form_id=form_id, finished_at=timezone.now())
            row.save(force_insert=True)
    except IntegrityError as error:
        if not was_sent(form_id):
            raise
        raise AlreadySubmitted from error
    return row


def _finish_single(row: OperatorActionRow, result: Result, message: str) -> None:
    """Store the result of an action that is already stored. The form of a failed action may be sent again."""
    with transaction.atomic():
        OperatorActionRow.objects.filter(pk=row.pk).update(result=result, message=_as_text(message))
        failed_form = {} if result is Result.DONE else {"form_id": None}
        OperatorAction.objects.filter(pk=row.action_id).update(finished_at=timezone.now(), **failed_form)


def was_sent(form_id: UUID | None) -> str:
    """Return a message if the action of this form was already carried out, else an empty text."""
    done = OperatorActionRow.objects.filter(action__form_id=form_id) if form_id else None
    message = done.values_list("message", flat=True).first() if done is not None else None
    if message is None:
        return ""
    return f"This form was already sent, and was done only once: {message} To do it again, open a new form."


def _as_text(message: str) -> str:
    """Return a message as plain text. The page may show links; the table stores text."""
    return text_of(message) if isinstance(message, SafeString) else message


# --- Work on an action for some seconds ----------------------------------------------------------


def advance(chosen: OperatorAction, admin: Acting, *, seconds: float) -> bool:
    """Check or process rows for some seconds; return False if the caller has to continue the action.

    True means that no work is left now, or that another worker has the lease.
    """
    action = admin.find_action(chosen.action)
    if action is None:  # another version of the service stored this action, which this version does not have
        stop(chosen, by=Actor.system("operators' actions"))
        OperatorAction.objects.filter(pk=chosen.pk, finished_at=None).update(finished_at=timezone.now())
        return True
    claimed = OperatorAction.claim(chosen.pk, leased.new_owner())
    chosen.refresh_from_db()
    if claimed is None:
        return True
    end = monotonic() + seconds
    try:
        done = (
            _check(chosen, admin, action, end)
            if chosen.looked_at is None
            else _act(chosen, admin, action, end)
        )
    finally:
        claimed.release()
    chosen.refresh_from_db()
    return done


def _check(chosen: OperatorAction, admin: Acting, action: AdminAction[Any], end: float) -> bool:
    """Store for each row the expected effect, or the reason why it is left out."""
    while rows := list(chosen.rows.filter(why_not=None).order_by("id")[:PAGE]):
        subjects = {record.pk: record for record in admin.acting_on([row.record_id for row in rows])}
        for row in rows:
            record = subjects.get(row.record_id)
            row.name = str(record)[:300] if record is not None else ""
            row.why_not = action.why_not(record) if record is not None else GONE
            row.effect = action.effect(record) if record is not None and not row.why_not else ""
        update(rows, ["name", "why_not", "effect"])
        if monotonic() > end:
            return False
    OperatorAction.objects.filter(pk=chosen.pk).update(looked_at=timezone.now())
    return True


def _act(chosen: OperatorAction, admin: Acting, action: AdminAction[Any], end: float) -> bool:
    """Do the action to the rows one by one, in the order of the list."""
    actor = Actor(admin.actor_kind, chosen.actor, chosen.request_id, approved_by=chosen.approved_by)
    answers = {**chosen.answers, UNDO: chosen.undoes_id is not None}
    to_do = chosen.rows.filter(why_not="", result="", action__stopped_at=None).order_by("id")
    while rows := list(to_do[:AT_HAND]):
        subjects = {record.pk: record for record in admin.acting_on([row.record_id for row in rows])}
        for row in rows:
            saved = _act_on(row, subjects.get(row.record_id), action, actor, answers)
            if monotonic() > end:
                return False
            if not saved:
                break  # read the open rows again: another worker has done this row, and perhaps more rows
    OperatorAction.objects.filter(pk=chosen.pk, finished_at=None).update(finished_at=timezone.now())
    return True


def _act_on(
    row: OperatorActionRow, record: object, action: AdminAction[Any], actor: Actor, answers: dict[str, Any]
) -> bool:
    """Do the action to one record. Return False if the row was already done or the action was stopped.

    The result is saved in the same transaction, and only if the row has no result yet. If two workers have
    the same row, the second worker changes nothing. If a worker is killed, another worker repeats the row.
    """

    def save_result(result: Result, message: str) -> None:
        undone = OperatorActionRow.objects.filter(pk=row.pk, result="", action__stopped_at=None)
        if not undone.update(result=result, message=message):
            raise AlreadySubmitted

    try:
        if record is None:
            save_result(Result.REFUSED, GONE)
        elif why_not := action.why_not(record) or operator_actions.why_left_out(action, record, row.effect):
            save_result(Result.UNCHANGED, why_not)
        else:
            perform(action, record, actor, answers, save_result)
    except AlreadySubmitted:
        return False
    return True


# --- Workers -------------------------------------------------------------------------------------


def all_at_work() -> bool:
    """Return whether the limit of actions in progress is reached."""
    at_work = OperatorAction.objects.filter(finished_at=None, lease_until__gt=Now())
    return at_work.count() >= AT_WORK


def wake(action_id: int) -> None:
    """Wake a worker to continue an action. If the Celery message is lost, a periodic task wakes a worker."""
    leased.wake(RUN_TASK, action_id)


def wake_next(action_id: int) -> None:
    """Wake a worker for the unfinished action with the next id, or with the first id after the last id."""
    if free := OperatorAction.unfinished():
        wake(next((pk for pk in free if pk > action_id), free[0]))


def unfinished() -> list[int]:
    """Return the ids of actions that need a worker. Delete actions that no one confirmed in time."""
    unconfirmed, now = OperatorAction.objects.filter(finished_at=None, confirmed_at=None), timezone.now()
    unconfirmed.filter(requested_at=None, created_at__lte=now - UNCONFIRMED).delete()
    unconfirmed.filter(requested_at__lte=now - UNAPPROVED).delete()
    return OperatorAction.unfinished()
