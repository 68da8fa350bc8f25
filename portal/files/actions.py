"""A supplier's actions on an import. The API's table of moves decides which actions are possible."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor, ActorKind
from accounts.models import Supplier
from accounts.operating.operator_actions import AdminAction
from api.errors import Invalid
from imports.admin_actions import label_of, not_importable, why_not
from imports.drafts.mapped import FAULTS, in_words, mapped_draft
from imports.drafts.services import start, start_again
from imports.models import ImportDraft, ImportJob
from imports.overview import newer_values
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, JobMove


def _import(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    started = start_again(job, by=by)
    job.started_import_id = started.pk  # type: ignore[attr-defined]  # for the page that follows
    return f"Import {started.pk} has started."


def _approve(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    job.approve(by=by)
    return "The import continues."


def _retry(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    job.retry(by=by)
    return "The import runs again from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    job.cancel(by=by)
    return "The import is canceled, or stops within seconds. Imported rows stay."


def _upload(supplier: Supplier, by: Actor, answers: dict[str, Any]) -> str:
    file = answers["file"]
    try:
        draft = mapped_draft(supplier, answers["kind"], file.name, file.chunks(), by=by)
    except FAULTS as error:
        raise Invalid(in_words(error)) from error
    supplier.uploaded_draft_id = draft.pk  # type: ignore[attr-defined]
    return f"{draft.name} was uploaded."


def _try(draft: ImportDraft, by: Actor, answers: dict[str, Any]) -> str:
    draft.body, draft.is_suggested = answers["body"], True
    draft.save(update_fields=["body", "is_suggested"])
    try:
        trial = start(draft, dry_run=True, by=by)
    except FAULTS as error:
        raise Invalid(in_words(error)) from error
    draft.started_import_id = trial.pk  # type: ignore[attr-defined]
    return f"Trial {trial.pk} has started."


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
            f"Imports {label_of(job)}. Rows: {job.created} new, {job.updated} changed,"
            f" {job.unchanged} unchanged, {job.rejected} rejected."
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
        details=newer_values,
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
TRY = AdminAction[ImportDraft]("try", "Try file", _try, lambda draft: "")
UPLOAD = AdminAction[Supplier]("upload-file", "Upload file", _upload, lambda supplier: "")
"""TRY and UPLOAD have their own pages. They are actions so that a form sent twice is carried out once."""
