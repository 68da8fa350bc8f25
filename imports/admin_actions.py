"""What operators can do about an import; each is one call of what the API calls."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor, ActorKind
from accounts.operator_actions import AdminAction, Reason
from api.errors import ApiError
from imports.models import ImportJob, Status
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, Move


def _approve(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.approve(by=by, reason=answers.get("reason", ""))
    return f"Import {job.pk} is released; it is {job.status} now."


def _retry(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.retry(by=by)
    return f"Import {job.pk} runs once more, from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.cancel(by=by, reason=answers.get("reason", ""))
    if job.status == Status.CANCELED:
        return f"Import {job.pk} is canceled."
    return f"Import {job.pk} stops at its next range; what has landed stays."


def _why_not(job: ImportJob, *moves: Move) -> str:
    """Why none of these moves can be made now."""
    refusals = []
    for move in moves:
        try:
            move.check(job.status, ActorKind.OPERATOR)
        except ApiError as error:
            refusals.append(error.message)
    return refusals[0] if len(refusals) == len(moves) else ""


def _not_retriable(job: ImportJob) -> str:
    if refusal := _why_not(job, RETRY):
        return refusal
    return "" if job.has_file else "Its file is no longer kept. Start a new import."


def _not_cancelable(job: ImportJob) -> str:
    if job.cancel_requested and job.status == Status.RUNNING:
        return f"Import {job.pk} stops at its next range already."
    return _why_not(job, CANCEL, REQUEST_CANCEL)


def _what(job: ImportJob) -> str:
    return f"{job.kind} of {job.supplier}, {job.source or 'sent as data'}"


SEEN_BY_SUPPLIER = "Kept in the history; the supplier sees it in the events."

ACTIONS = (
    AdminAction[ImportJob](
        "approve",
        "Approve",
        _approve,
        lambda job: _why_not(job, APPROVE),
        lambda job: f"It lands: {_what(job)}. {' '.join(job.report.get('reasons', ()))}".strip(),
        help_text="Its file is read once more, from the start, and lands without being asked about again.",
        reason=Reason.MAY,
        reason_help=SEEN_BY_SUPPLIER,
        shares_reason=True,
        undo="Another file of the supplier puts right what this one sets.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "retry",
        "Retry",
        _retry,
        _not_retriable,
        lambda job: f"It is read again from its start: {_what(job)}.",
        help_text="Runs it once more, from the start of its file. What has landed of it is unchanged then.",
        undo="Cancel import, while it runs.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "cancel",
        "Cancel import",
        _cancel,
        _not_cancelable,
        lambda job: f"It ends: {_what(job)}.",
        help_text="One that waits ends at once; one that runs stops within seconds. What has landed stays.",
        reason=Reason.OWED,
        reason_help=SEEN_BY_SUPPLIER,
        shares_reason=True,
        danger=True,
        undo="It cannot be undone: the supplier sends the file again.",
        bulk=True,
    ),
)
