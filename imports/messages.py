"""An operator's message to a supplier about a file. It is stored with the reports and can be mailed."""

from __future__ import annotations

from urllib.parse import quote

from django.core.mail import send_mail
from django.db import transaction

from accounts.actors import Actor
from events.models import ACCOUNTS
from events.recording import record
from imports.kinds import kind_of
from imports.models import ImportJob, Status
from imports.publishing import leave, name_of
from sftp_ingest.area.paths import REPORTS

MESSAGE_SENT = "import_message.sent"
"""The type of the event that keeps a message for operators."""


def proposed_text(job: ImportJob) -> str:
    """Return a text for the message about this job. The operator may edit the text."""
    parts = [f"Hello {job.supplier},", _status_text(job)]
    if job.error:
        parts.append(f"{job.error['code']}: {job.error['message']}")
    parts += job.report.get("reasons", [])
    if job.rejected:
        parts.append(
            f"{job.rejected} rows were rejected. They are in {REPORTS}/{name_of(job)}.errors.csv, each "
            f"with the reason. Correct them there and upload that file to {kind_of(job.kind).folder}/."
        )
    return "\n\n".join([*parts, "Please write to us if anything is unclear."])


def _status_text(job: ImportJob) -> str:
    file = f"your file {job.source}" if job.source != "data" else f"the {job.kind} that you sent"
    failed = f"we could not read {file}, so no row was imported."
    if job.created or job.updated or job.unchanged:
        rows = f"{job.rows_done} of {job.rows_total} rows"
        failed = f"the import of {file} stopped after {rows}. The imported rows stay."
    texts = {
        Status.FAILED: failed,
        Status.AWAITING_APPROVAL: f"{file} would change more than usual. Is it right?",
    }
    return texts.get(Status(job.status), f"this is about {file} (import {job.pk}, {job.status}).")


def mail_link(job: ImportJob, text: str) -> str:
    """Return a link that opens the message in the operator's own mail program."""
    return f"mailto:?subject={quote(_subject(job))}&body={quote(text)}"


def mail_message(job: ImportJob, text: str, address: str) -> None:
    """Send the message by the service's mail server. Raises OSError for every failure."""
    send_mail(_subject(job), text, None, [address])


def record_message(job: ImportJob, text: str, *, mailed_to: str, by: Actor) -> None:
    """Record a message that is in the supplier's area. Only operators see the event."""
    data = {"text": text, **({"mailed_to": mailed_to} if mailed_to else {})}
    about: dict[str, object] = {"supplier_id": job.supplier_id, "import_id": job.pk}
    with transaction.atomic():
        record(MESSAGE_SENT, by=by, area=ACCOUNTS, data=data, **about)


def _subject(job: ImportJob) -> str:
    return f"Import {job.pk} of {' '.join(job.source.split())}"


def leave_message(job: ImportJob, text: str) -> str:
    """Store the message in the supplier's reports and return its path. It replaces an earlier message."""
    name = f"{name_of(job)}.message.txt"
    leave(job.supplier, name, text.replace("\r\n", "\n").replace("\n", "\r\n").encode())
    return f"{REPORTS}/{name}"
