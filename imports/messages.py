"""A message of the operators' to a supplier about one of its files: left among its reports, and mailed."""

from __future__ import annotations

from urllib.parse import quote

from django.core.mail import send_mail

from imports.models import ImportJob, Kind, Status
from imports.publishing import leave, name_of
from sftp_ingest.area.paths import REPORTS


def proposed_text(job: ImportJob) -> str:
    """What there is to say of it, from a template; the operator changes it as he likes."""
    parts = [f"Hello {job.supplier},", _what(job)]
    if job.error:
        parts.append(f"{job.error['code']}: {job.error['message']}")
    parts += job.report.get("reasons", [])
    if job.rejected:
        parts.append(
            f"{job.rejected} rows were refused. They are in {REPORTS}/{name_of(job)}.errors.csv, each "
            f"with the reason: correct them there, and upload that file to {Kind(job.kind).folder}/."
        )
    return "\n\n".join([*parts, "Please write to us if anything is unclear."])


def _what(job: ImportJob) -> str:
    file = f"your file {job.source}" if job.source != "data" else f"the {job.kind} that you sent"
    said = {
        Status.FAILED: f"we could not read {file}, so nothing of it has landed.",
        Status.AWAITING_APPROVAL: f"{file} waits, as it would change more than usual. Is it right?",
    }
    return said.get(Status(job.status), f"this is about {file} (import {job.pk}, {job.status}).")


def mail_link(job: ImportJob, text: str) -> str:
    """Opens the operator's own mail program with it."""
    return f"mailto:?subject={quote(_subject(job))}&body={quote(text)}"


def mail_message(job: ImportJob, text: str, address: str) -> None:
    """Send it by the service's own mail. Raises OSError, as every answer of a mail server is one."""
    send_mail(_subject(job), text, None, [address])


def _subject(job: ImportJob) -> str:
    return f"Import {job.pk} of {' '.join(job.source.split())}"


def leave_message(job: ImportJob, text: str) -> str:
    """Put it into the supplier's reports, in place of an earlier one; return its path there."""
    name = f"{name_of(job)}.message.txt"
    leave(job.supplier, name, text.replace("\r\n", "\n").replace("\n", "\r\n").encode())
    return f"{REPORTS}/{name}"
