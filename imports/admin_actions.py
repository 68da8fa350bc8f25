"""What operators can do about an import; each is one call of what the API calls."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor, ActorKind
from accounts.admin_actions import AdminAction
from imports.models import ImportJob, Status
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, Move


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=500, required=False, help_text="Kept in the history; the supplier sees it in the events."
    )


def _approve(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.approve(by=by, **answers)
    return f"Import {job.pk} is released; it is {job.status} now."


def _retry(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.retry(by=by)
    return f"Import {job.pk} runs once more, from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.cancel(by=by, **answers)
    if job.status == Status.CANCELED:
        return f"Import {job.pk} is canceled."
    return f"Import {job.pk} stops at its next range; what has landed stays."


def _may(job: ImportJob, *moves: Move) -> bool:
    return any(move.is_possible(job.status, ActorKind.OPERATOR) for move in moves)


ACTIONS = (
    AdminAction[ImportJob](
        "approve",
        "Approve",
        _approve,
        lambda job: _may(job, APPROVE),
        form=lambda job, sent: ReasonForm(sent),
        help_text="Its file is read once more, from the start, and lands without being asked about again.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "retry",
        "Retry",
        _retry,
        lambda job: _may(job, RETRY) and job.has_file,
        help_text="Runs it once more, from the start of its file. What has landed of it is unchanged then.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "cancel",
        "Cancel import",
        _cancel,
        lambda job: _may(job, CANCEL, REQUEST_CANCEL) and not job.cancel_requested,
        form=lambda job, sent: ReasonForm(sent),
        help_text="One that waits ends at once; one that runs stops within seconds. What has landed stays.",
        needs_confirmation=True,
        bulk=True,
    ),
)
