"""Operators' actions on imports. Each action calls the method that the API calls."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html

from accounts.actors import Actor, ActorKind
from accounts.operating.operator_actions import AdminAction, Reason
from api.errors import ApiError, InvalidTransition
from imports.correcting import send
from imports.drafts.services import start_again
from imports.messages import leave_message, mail_link, mail_message, proposed_text, record_message
from imports.models import ImportJob, Status
from imports.overview import changed_warehouses, newer_values, with_percents
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, UNFINISHED, JobMove
from sftp_ingest.errors import Refused


class ApproveForm(forms.Form):
    """A form with a checkbox for each warehouse whose stock the approved file will set."""

    def __init__(self, warehouses: dict[int, str], sent: dict[str, object] | None) -> None:
        super().__init__(sent)
        self.warehouses = warehouses
        for number, name in warehouses.items():
            label = f"Import the stock of {name}"
            self.fields[f"warehouse_{number}"] = forms.BooleanField(required=False, initial=True, label=label)

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        if self.warehouses and _left_out(self.warehouses, data) == self.warehouses:
            raise forms.ValidationError("Choose at least one warehouse, or cancel the import.")
        return data


def _approve_form(job: ImportJob, sent: dict[str, object] | None) -> forms.Form:
    """Return the approval form. The form lists warehouses only if the file changes several warehouses."""
    warehouses = changed_warehouses(job)
    return ApproveForm(warehouses if len(warehouses) > 1 else {}, sent)


def _left_out(warehouses: dict[int, str], answers: dict[str, object]) -> dict[int, str]:
    return {pk: name for pk, name in warehouses.items() if not answers.get(f"warehouse_{pk}", True)}


def _approve(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    left_out = _left_out(changed_warehouses(job), answers)
    job.approve(by=by, reason=answers.get("reason", ""), left_out=left_out)
    without = f" without {', '.join(left_out.values())}" if left_out else ""
    return f"Import {job.pk} is approved{without}. Its status is {job.status}."


def _retry(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    job.retry(by=by)
    return f"Import {job.pk} runs again from the start of its file."


def _cancel(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    job.cancel(by=by, reason=answers.get("reason", ""))
    if job.status == Status.CANCELED:
        return f"Import {job.pk} is canceled."
    return f"Import {job.pk} stops within seconds. Rows that landed stay."


def why_not(job: ImportJob, *moves: JobMove, by: ActorKind = ActorKind.OPERATOR) -> str:
    """Return the reason why the job allows no action of `moves`, else an empty string."""
    refusals = []
    for move in moves:
        try:
            move.check(job.status, by)
        except ApiError as error:
            refusals.append(error.message)
    return refusals[0] if len(refusals) == len(moves) else ""


def _not_retriable(job: ImportJob) -> str:
    if refusal := why_not(job, RETRY):
        return refusal
    return "" if job.has_file else "The file is no longer stored. Start a new import."


def _not_cancelable(job: ImportJob) -> str:
    if job.cancel_requested and job.status == Status.RUNNING:
        return f"Import {job.pk} is already stopping."
    return why_not(job, CANCEL, REQUEST_CANCEL)


def label_of(job: ImportJob) -> str:
    return f"{job.kind} of {job.supplier}, {job.source or 'sent in the request'}"


class MessageForm(forms.Form):
    """A form with the text that the supplier will read."""

    text = forms.CharField(
        max_length=5_000, widget=forms.Textarea(attrs={"rows": 12, "cols": 80}), label="Message"
    )


def _outlook(job: ImportJob) -> str:
    context = {"outlook": with_percents(job.report.get("outlook")), "header": job.header}
    return render_to_string("admin/imports/outlook.html", context)


def _message_form(job: ImportJob, sent: dict[str, object] | None) -> forms.Form:
    form = MessageForm(sent, initial={"text": proposed_text(job)})
    if settings.EMAIL_URL:
        digest = getattr(job.supplier, "digest", None)  # a supplier has no digest until it subscribes
        form.fields["mail_to"] = forms.EmailField(
            required=False,
            initial=digest.address if digest else "",
            label="Mail to",
            help_text="The message is always stored in the upload area as well.",
        )
    return form


def _mail(job: ImportJob) -> str:
    if settings.EMAIL_URL:
        return ""
    link = mail_link(job, proposed_text(job))
    return format_html('<p><a href="{}">Write it as a mail</a> in your own mail program.</p>', link)


def _correct(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    correction = send(job, answers["corrected"], by=by)
    job.started_import_id = correction.job_id  # type: ignore[attr-defined]  # the next page links to it
    rows = "1 corrected row is" if correction.rows == 1 else f"{correction.rows} corrected rows are"
    return f"{rows} imported again."


CORRECT = AdminAction[ImportJob]("correct-rows", "Send corrected rows", _correct, lambda job: "")
"""The action of the page with the rejected rows. If the form is sent twice, the action runs once."""


def _message(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    try:
        path = leave_message(job, answers["text"])
    except (OSError, Refused) as error:  # the storage does not answer, or a folder has this file's name
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise InvalidTransition(f"The message could not be stored in the supplier's area: {why}") from error
    mailed_to, mailed = _mail_to(job, answers["text"], answers.get("mail_to", ""))
    record_message(job, answers["text"], mailed_to=mailed_to, by=by)
    return f"{job.supplier} finds the message as {path} in its upload area. {mailed}".strip()


def _mail_to(job: ImportJob, text: str, address: str) -> tuple[str, str]:
    """Mail the message. Return the address if the mail was sent, and a text for the operator."""
    if not address:
        return "", ""
    try:
        mail_message(job, text, address)
    except OSError as error:
        return "", f"No mail could be sent to {address}: {error}. Try again, or use your own mail program."
    return address, f"It was also mailed to {address}."


def not_importable(job: ImportJob) -> str:
    """Return the reason why the file of this job cannot be imported now, else an empty string."""
    if not (job.dry_run and job.drafts.all()):
        return "Only a dry run of a file uploaded here can be imported."
    if job.status not in (Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS):
        return "The dry run has not succeeded."
    return ""


def _import(job: ImportJob, by: Actor, answers: dict[str, object]) -> str:
    job_started = start_again(job, by=by)
    url = reverse("admin:imports_importjob_change", args=[job_started.pk])
    return format_html('Started: <a href="{}">import {}</a>.', url, job_started.pk)


def _effect_of_import(job: ImportJob) -> str:
    rows = f"{job.created} created, {job.updated} updated, {job.unchanged} unchanged"
    return f"Imports {label_of(job)}. The dry run counted: {rows}, {job.rejected} rejected."


SEEN_BY_SUPPLIER = "Stored in the history. The supplier sees it in the events."

ACTIONS = (
    AdminAction[ImportJob](
        "import",
        "Import file",
        _import,
        not_importable,
        _effect_of_import,
        help_text="Reads the file again with the options of the dry run and writes its rows.",
        undo="Import another file with the right values.",
    ),
    AdminAction[ImportJob](
        "approve",
        "Approve import",
        _approve,
        lambda job: why_not(job, APPROVE),
        lambda job: f"Imports {label_of(job)}. {' '.join(job.report.get('reasons', ()))}".strip(),
        form=_approve_form,
        details=_outlook,
        help_text="Reads the file again from the start and writes its valid rows without another approval.",
        reason=Reason.OPTIONAL,
        reason_help=SEEN_BY_SUPPLIER,
        shares_reason=True,
        undo="The supplier sends another file with the right values.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "retry",
        "Retry import",
        _retry,
        _not_retriable,
        lambda job: f"Reads {label_of(job)} again from the start.",
        details=newer_values,
        help_text="Reads the file again from the start. Rows that were already imported count as unchanged.",
        undo="Cancel the import while it runs.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "cancel",
        "Cancel import",
        _cancel,
        _not_cancelable,
        lambda job: f"Ends the import of {label_of(job)}.",
        help_text="A waiting import ends at once, a running import within seconds. Imported rows stay.",
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_SUPPLIER,
        shares_reason=True,
        danger=True,
        is_final=True,
        undo="Cannot be undone. The supplier sends the file again.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "message",
        "Message supplier",
        _message,
        lambda job: "The import has not ended yet." if job.status in UNFINISHED else "",
        lambda job: f"Stores the message in the upload area of {job.supplier}.",
        form=_message_form,
        details=_mail,
        in_transaction=False,
        help_text="Edit the text first. A second message about the same import replaces the first.",
        undo="Send another message.",
    ),
)
