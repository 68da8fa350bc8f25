"""A supplier's actions on an import. The table of moves decides when each is possible, as in the API."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor, ActorKind
from accounts.operating.operator_actions import AdminAction
from imports.admin_actions import label_of, not_importable, why_not
from imports.drafts.services import start_again
from imports.models import ImportJob
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, JobMove


def _import(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    started = start_again(job, by=by)
    return f"Import {started.pk} has started. It is the first in the list of files."


def _approve(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.approve(by=by)
    return "The import continues."


def _retry(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.retry(by=by)
    return "The import runs again from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.cancel(by=by)
    return "The import is canceled, or stops within seconds. Imported rows stay."


def _refusal(job: ImportJob, *moves: JobMove) -> str:
    return why_not(job, *moves, by=ActorKind.SUPPLIER)


def _not_retriable(job: ImportJob) -> str:
    gone = "" if job.has_file else "The file is no longer stored. Upload it again."
    return _refusal(job, RETRY) or gone


ACTIONS: tuple[AdminAction[ImportJob], ...] = (
    AdminAction(
        "import",
        "Import file",
        _import,
        not_importable,
        lambda job: (
            f"Imports {label_of(job)}: {job.created} rows are new, {job.updated} change,"
            f" {job.unchanged} stay, {job.rejected} are rejected."
        ),
        undo="Import another file with the right values.",
    ),
    AdminAction(
        "approve",
        "Approve import",
        _approve,
        lambda job: _refusal(job, APPROVE),
        lambda job: f"Imports {label_of(job)}. {' '.join(job.report.get('reasons', ()))}".strip(),
        undo="Import another file with the right values.",
    ),
    AdminAction(
        "retry",
        "Retry import",
        _retry,
        _not_retriable,
        lambda job: f"Reads {label_of(job)} again from the start.",
        undo="Cancel the import while it runs.",
    ),
    AdminAction(
        "cancel",
        "Cancel import",
        _cancel,
        lambda job: _refusal(job, CANCEL, REQUEST_CANCEL),
        lambda job: f"Ends the import of {label_of(job)}. Imported rows stay.",
        danger=True,
        undo="Upload the file again.",
    ),
)
