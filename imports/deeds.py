"""What operators can do about an import; each is one call of what the API calls."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.deeds import Deed
from imports import lifecycle
from imports.models import ImportJob, Status


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=500, required=False, help_text="Kept in the history; the supplier sees it in the events."
    )


def _approve(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    lifecycle.approve(job, by=by, **answers)
    return f"Import {job.pk} is released; it is {job.status} now."


def _retry(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    lifecycle.retry(job, by=by)
    return f"Import {job.pk} runs once more, from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    lifecycle.cancel(job, by=by, **answers)
    if job.status == Status.CANCELED:
        return f"Import {job.pk} is canceled."
    return f"Import {job.pk} stops at its next range; what has landed stays."


def _cancelable(job: ImportJob) -> bool:
    return not job.cancel_requested and job.status in (
        Status.QUEUED,
        Status.RUNNING,
        Status.AWAITING_APPROVAL,
    )


DEEDS = (
    Deed[ImportJob](
        "approve",
        "Approve",
        _approve,
        lambda job: job.status == Status.AWAITING_APPROVAL,
        form=lambda job, sent: ReasonForm(sent),
        advice="Its file is read once more, from the start, and lands without being asked about again.",
        bulk=True,
    ),
    Deed[ImportJob](
        "retry",
        "Retry",
        _retry,
        lambda job: job.status == Status.FAILED and lifecycle.kept(job),
        advice="Runs it once more, from the start of its file. What has landed of it is unchanged then.",
        bulk=True,
    ),
    Deed[ImportJob](
        "cancel",
        "Cancel import",
        _cancel,
        _cancelable,
        form=lambda job, sent: ReasonForm(sent),
        advice="One that waits ends at once; one that runs stops within seconds. What has landed stays.",
        grave=True,
        bulk=True,
    ),
)
