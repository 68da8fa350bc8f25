"""What operators can do about an import; each is one call of what the API calls."""

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
from imports.drafts.services import start_again
from imports.messages import leave_message, mail_link, mail_message, proposed_text
from imports.models import ImportJob, Status
from imports.states import APPROVE, CANCEL, REQUEST_CANCEL, RETRY, UNFINISHED, Move
from sftp_ingest.errors import Refused


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


class MessageForm(forms.Form):
    """What the supplier will read."""

    text = forms.CharField(
        max_length=5_000, widget=forms.Textarea(attrs={"rows": 12, "cols": 80}), label="Message"
    )


def _outlook(job: ImportJob) -> str:
    context = {"outlook": job.report.get("outlook"), "header": job.header}
    return render_to_string("admin/imports/outlook.html", context)


def _message_form(job: ImportJob, sent: dict[str, Any] | None) -> forms.Form:
    form = MessageForm(sent, initial={"text": proposed_text(job)})
    if settings.EMAIL_URL:
        digest = getattr(job.supplier, "digest", None)  # where it hears daily of what waits, if it does
        form.fields["mail_to"] = forms.EmailField(
            required=False,
            initial=digest.address if digest else "",
            label="Mail it to",
            help_text="It is left in the upload area in any case.",
        )
    return form


def _mail(job: ImportJob) -> str:
    if settings.EMAIL_URL:
        return ""
    link = mail_link(job, proposed_text(job))
    return format_html('<p><a href="{}">Write a mail of it</a>, in your own mail program.</p>', link)


def _message(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    try:
        path = leave_message(job, answers["text"])
    except (OSError, Refused) as error:  # a storage that is away, a supplier's folder of that file's name
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise InvalidTransition(f"It could not be left in the supplier's area: {why}") from error
    left = f"{job.supplier} finds it as {path} in its upload area."
    return f"{left} {_mailed(job, answers['text'], answers['mail_to'])}" if answers.get("mail_to") else left


def _mailed(job: ImportJob, text: str, address: str) -> str:
    try:
        mail_message(job, text, address)
    except OSError as error:
        return f"No mail could be sent to {address}: {error}. Send the message again, or write from your own."
    return f"It was mailed to {address}, too."


def _not_importable(job: ImportJob) -> str:
    """Why this dry run of a file from the browser cannot be followed by its import."""
    if not (job.dry_run and job.drafts.all()):
        return "Only what a file from here would do, as a dry run said, can be done."
    if job.status not in (Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS):
        return "Its dry run has not ended well."
    return ""


def _import(job: ImportJob, by: Actor, answers: dict[str, Any]) -> str:
    made = start_again(job, by=by)
    url = reverse("admin:imports_importjob_change", args=[made.pk])
    return format_html('It is imported: <a href="{}">import {}</a>.', url, made.pk)


def _what_lands(job: ImportJob) -> str:
    rows = f"{job.created} created, {job.updated} updated, {job.unchanged} unchanged"
    return f"It lands: {_what(job)}; {rows}, {job.rejected} rejected, as the dry run said."


SEEN_BY_SUPPLIER = "Kept in the history; the supplier sees it in the events."

ACTIONS = (
    AdminAction[ImportJob](
        "import",
        "Import it",
        _import,
        _not_importable,
        _what_lands,
        help_text="Its file is read once more, just as in the dry run, and lands.",
        undo="Another file puts right what this one sets.",
    ),
    AdminAction[ImportJob](
        "approve",
        "Approve",
        _approve,
        lambda job: _why_not(job, APPROVE),
        lambda job: f"It lands: {_what(job)}. {' '.join(job.report.get('reasons', ()))}".strip(),
        details=_outlook,
        help_text="Its file is read once more, from the start, and lands without being asked about again.",
        reason=Reason.OPTIONAL,
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
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_SUPPLIER,
        shares_reason=True,
        danger=True,
        undo="It cannot be undone: the supplier sends the file again.",
        bulk=True,
    ),
    AdminAction[ImportJob](
        "message",
        "Message to the supplier",
        _message,
        lambda job: "It has not come to rest yet." if job.status in UNFINISHED else "",
        lambda job: f"{job.supplier} reads it in its upload area.",
        form=_message_form,
        details=_mail,
        in_transaction=False,
        help_text="Change the text as you like. A second one about the same import takes its place.",
        undo="Send another message.",
    ),
)
