"""An operator's action on many records: chosen, looked at, confirmed, done; row by row, by whoever has time.

The table is the job. A worker has it for a slice of a few seconds at a time; records are read many at once,
and each is done in a transaction of its own, with its result. So nobody waits longer for a lock than one
record takes, and a worker that dies half way loses nothing and does nothing twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from html import unescape
from time import monotonic
from typing import Any, Protocol
from uuid import UUID

from celery import current_app
from django.db import IntegrityError, connection, transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.html import strip_tags
from django.utils.safestring import SafeString

from accounts.actors import Actor, ActorKind
from accounts.models import OperatorAction, OperatorActionRow, Result
from accounts.operating.operator_actions import AdminAction, Taken, perform
from fastdb.updates import update

logger = logging.getLogger(__name__)

RUN_TASK = "accounts.tasks.run_operator_action"
MOST = 1_000_000  # rows of one action
AT_ONCE = 1.5  # seconds that the operator's own request spends; what is left is a worker's
SLICE = 4.0  # seconds until a worker lets others have their turn
AT_WORK = 2  # actions that workers have at the same time: others' threads stay free
LEASE = timedelta(seconds=30)
PAGE = 500
AT_HAND = 50  # rows whose records are read at once, before one after the other is done
UNCONFIRMED = timedelta(days=1)


class Acting(Protocol):
    """The admin of what is acted on."""

    @property
    def model(self) -> type[Model]: ...

    def acting_on(self, record_ids: Sequence[int]) -> QuerySet[Any]:
        """These records, with all that actions look at."""
        ...

    def find_action(self, name: str) -> AdminAction[Any] | None: ...


class TooMany(Exception):
    """More was chosen than one action takes."""


def choose(
    admin: Acting,
    action: AdminAction[Any],
    subjects: QuerySet[Any],
    *,
    by: Actor,
    chosen_from: str = "",
    undoes: int | None = None,
) -> OperatorAction:
    """Keep which records are chosen, in one statement. Raises TooMany."""
    chosen_rows = subjects.order_by("pk").values("pk")[: MOST + 1]
    with transaction.atomic():
        label = action.label_for_many
        chosen = _begun(admin, action, by, label=label, chosen_from=chosen_from[:2000], undoes_id=undoes)
        chosen.total = _keep_rows(chosen, chosen_rows)
        if chosen.total > MOST:
            raise TooMany
        chosen.save(update_fields=["total"])
    return chosen


def _begun(admin: Acting, action: AdminAction[Any], by: Actor, **fields: Any) -> OperatorAction:
    """Who begins which action, by which request."""
    return OperatorAction.objects.create(
        model=admin.model._meta.label_lower,
        action=action.name,
        actor=by.name,
        request_id=by.request_id,
        **fields,
    )


def _keep_rows(chosen: OperatorAction, chosen_rows: QuerySet[Any]) -> int:
    sql, parameters = chosen_rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO accounts_operatoractionrow (action_id, record_id, name, effect, result, message)
            SELECT %s, chosen_rows.*, '', '', '', '' FROM ({sql}) chosen_rows
            """,  # noqa: S608 - written by the ORM
            [chosen.pk, *parameters],
        )
        return int(cursor.rowcount)


def confirm(chosen: OperatorAction, answers: dict[str, Any]) -> bool:
    """Have it done, once; return whether it was this call that began it."""
    waiting = OperatorAction.objects.filter(pk=chosen.pk, confirmed_at=None, finished_at=None)
    begun = waiting.exclude(looked_at=None).update(
        confirmed_at=timezone.now(), answers=answers, reason=answers.get("reason", "")
    )
    chosen.refresh_from_db()
    return bool(begun)


def stop(chosen: OperatorAction) -> None:
    """Do no more of it: nothing at all, where it was not confirmed; what is done stays."""
    now = timezone.now()
    running = OperatorAction.objects.filter(pk=chosen.pk, finished_at=None)
    running.filter(confirmed_at=None).update(stopped_at=now, finished_at=now)
    running.filter(stopped_at=None).update(stopped_at=now)
    chosen.refresh_from_db()


def record_single(
    admin: Acting,
    action: AdminAction[Any],
    record: Any,
    *,
    by: Actor,
    answers: dict[str, Any],
    form_id: UUID | None = None,
) -> tuple[Result, str]:
    """Do it to one record, at once, and keep who did what to it with which result.

    A form that is sent twice (a double click, the way back and once more) is done once: the row that says so
    bears its number, in the transaction of what was done.
    """
    now = timezone.now()

    def keep(result: Result, message: str) -> None:
        if result is not Result.DONE and was_sent(form_id):
            raise Taken
        try:
            write(result, message)
        except IntegrityError as error:
            if not was_sent(form_id):
                raise
            raise Taken from error

    @transaction.atomic
    def write(result: Result, message: str) -> None:
        kept = _begun(
            admin,
            action,
            by,
            label=action.label,
            total=1,
            reason=answers.get("reason", ""),
            looked_at=now,
            confirmed_at=now,
            finished_at=timezone.now(),
            form_id=form_id if result is Result.DONE else None,
        )
        kept.rows.create(
            record_id=record.pk, name=str(record)[:300], why_not="", result=result, message=_as_text(message)
        )

    try:
        return perform(action, record, by, answers, keep)
    except Taken:
        return Result.UNCHANGED, was_sent(form_id)


def was_sent(form_id: UUID | None) -> str:
    """What to tell who sends a form that was done before; nothing where it was not."""
    done = OperatorActionRow.objects.filter(action__form_id=form_id) if form_id else None
    message = done.values_list("message", flat=True).first() if done is not None else None
    if message is None:
        return ""
    return f"This form was sent before, and done once only: {message} To do it once more, open it anew."


def _as_text(message: str) -> str:
    """What is shown once may have links; what is kept is text."""
    return unescape(strip_tags(message)) if isinstance(message, SafeString) else message


# --- Slices --------------------------------------------------------------------------------------


def advance(chosen: OperatorAction, admin: Acting, *, seconds: float) -> bool:
    """Look, or act, for so long; return whether the caller need not go on: it is done, or another has it."""
    action = admin.find_action(chosen.action)
    if action is None:  # a later version has no such action
        stop(chosen)
        OperatorAction.objects.filter(pk=chosen.pk, finished_at=None).update(finished_at=timezone.now())
        return True
    if not _claim(chosen):
        return True
    end = monotonic() + seconds
    try:
        done = (
            _look(chosen, admin, action, end)
            if chosen.looked_at is None
            else _act(chosen, admin, action, end)
        )
    finally:
        OperatorAction.objects.filter(pk=chosen.pk).update(leased_until=None)
    chosen.refresh_from_db()
    return done


def _claim(chosen: OperatorAction) -> bool:
    now = timezone.now()
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    claimed = OperatorAction.objects.filter(free, pk=chosen.pk, finished_at=None)
    return bool(claimed.update(leased_until=now + LEASE)) and _moving(chosen)


def _moving(chosen: OperatorAction) -> bool:
    chosen.refresh_from_db()
    return chosen.moving


def _look(chosen: OperatorAction, admin: Acting, action: AdminAction[Any], end: float) -> bool:
    """Ask of each row whether it can be done, and what it would do."""
    while rows := list(chosen.rows.filter(why_not=None).order_by("id")[:PAGE]):
        subjects = {record.pk: record for record in admin.acting_on([row.record_id for row in rows])}
        for row in rows:
            record = subjects.get(row.record_id)
            row.name = str(record)[:300] if record is not None else ""
            row.why_not = action.why_not(record) if record is not None else "It is not there any more."
            row.effect = action.effect(record) if record is not None and not row.why_not else ""
        update(rows, ["name", "why_not", "effect"])
        if monotonic() > end:
            return False
    OperatorAction.objects.filter(pk=chosen.pk).update(looked_at=timezone.now())
    return True


def _act(chosen: OperatorAction, admin: Acting, action: AdminAction[Any], end: float) -> bool:
    """Do it to one row after the other, in the order in which they were chosen."""
    actor = Actor(ActorKind.OPERATOR, chosen.actor, chosen.request_id)
    to_do = chosen.rows.filter(why_not="", result="", action__stopped_at=None).order_by("id")
    while rows := list(to_do[:AT_HAND]):
        subjects = {record.pk: record for record in admin.acting_on([row.record_id for row in rows])}
        for row in rows:
            was_ours = _act_on(row, subjects.get(row.record_id), action, actor, chosen.answers)
            if monotonic() > end:
                return False
            if not was_ours:
                break  # the others may not be, either: look again what is left
    OperatorAction.objects.filter(pk=chosen.pk, finished_at=None).update(finished_at=timezone.now())
    return True


def _act_on(
    row: OperatorActionRow, record: Any, action: AdminAction[Any], actor: Actor, answers: dict[str, Any]
) -> bool:
    """Do it to one record; False, and nothing done, where another worker has done it or it was stopped.

    The row's result is written in the same transaction, and only where there is none: so whoever comes
    second has done nothing. A worker that dies takes with it the row that it was at, and no other.
    """

    def keep(result: Result, message: str) -> None:
        wanted = OperatorActionRow.objects.filter(pk=row.pk, result="", action__stopped_at=None)
        if not wanted.update(result=result, message=message):
            raise Taken

    try:
        if record is None:
            keep(Result.REFUSED, "It is not there any more.")
        elif why_not := action.why_not(record):  # since it was looked at
            keep(Result.UNCHANGED, why_not)
        else:
            perform(action, record, actor, answers, keep)
    except Taken:
        return False
    return True


# --- Workers -------------------------------------------------------------------------------------


def all_at_work() -> bool:
    """Whether as many workers as may are busy with operators' actions."""
    leased = OperatorAction.objects.filter(finished_at=None, leased_until__gt=timezone.now())
    return leased.count() >= AT_WORK


def wake(action_id: int) -> None:
    """Have a worker go on with it. None may hear it: the sweep comes by."""
    try:
        current_app.signature(RUN_TASK).apply_async((action_id,), retry=False, expires=60)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the sweep does it
        logger.warning("an operator's action waits for the sweep: %s", error)


def unfinished() -> list[int]:
    """Actions that want a worker. What nobody confirmed within a day is forgotten."""
    open_ = OperatorAction.objects.filter(finished_at=None)
    open_.filter(confirmed_at=None, created_at__lte=timezone.now() - UNCONFIRMED).delete()
    wanting = open_.filter(Q(looked_at=None) | Q(confirmed_at__isnull=False))
    free = Q(leased_until=None) | Q(leased_until__lte=timezone.now())
    return [*wanting.filter(free).order_by("id").values_list("pk", flat=True)[:20]]
