"""Store an uploaded file as a draft, start its dry runs and its import, and delete the draft.

Each draft is deleted after a week at the latest.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath

from django.db import transaction
from django.db.models.functions import Now

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import Invalid, InvalidTransition, Unavailable
from imports import job_files
from imports.drafts.first_rows import wake_reader
from imports.kinds import kind_of
from imports.models import ImportDraft, ImportJob
from imports.pipeline.containers import GZIP, ZIP
from imports.services import start_import
from sftp_ingest.area import contents
from sftp_ingest.models import Blob

MOST_KEPT = 100
KEPT = timedelta(days=7)
AT_ONCE = 1_000


def create_draft(
    supplier: Supplier, kind: str, name: str, chunks: Iterable[bytes], *, by: Actor
) -> ImportDraft:
    """Store an uploaded file as a draft. Raises Invalid if the supplier has too many drafts.

    Raises QuotaExceeded, and Unavailable if the file cannot be stored.
    """
    job_files.refuse_hoarding(supplier, 0)
    _make_room(supplier)
    try:
        blob = contents.write(chunks)
    except OSError as error:
        raise Unavailable("The file cannot be stored right now. Try again.") from error
    name = PurePosixPath(name.replace("\\", "/")).name[:200] or "upload.csv"
    packed = _is_packed(blob)
    draft = ImportDraft.objects.create(
        supplier=supplier,
        kind=kind,
        name=name,
        blob=blob,
        created_by=by.name,
        is_packed=packed,
        is_suggested=not packed,
    )
    if packed:
        transaction.on_commit(partial(wake_reader, draft.pk))
    return draft


def _make_room(supplier: Supplier) -> None:
    """Discard the oldest imported draft if the supplier already has the maximum number of drafts.

    Raises Invalid if no draft is imported.
    """
    drafts = ImportDraft.objects.filter(supplier=supplier)
    if drafts.count() < MOST_KEPT:
        return
    oldest = drafts.exclude(pk__in=drafts.not_imported().values("pk")).order_by("pk").first()
    if oldest is None:
        raise Invalid(
            f"{supplier} has {MOST_KEPT} uploads that are not imported."
            f" Discard some of them in the portal, or wait: each is deleted after {KEPT.days} days."
        )
    discard(oldest.pk, oldest.blob_id)


def _is_packed(blob: Blob) -> bool:
    """Return whether the first bytes show a gzip or zip file, which a worker must read."""
    reader = contents.reader_of(blob)
    try:
        start = reader.read(0, 4)
    finally:
        reader.close()
    return start.startswith(GZIP) or start in ZIP


def saved_options(supplier: Supplier, kind: str, body: dict[str, object]) -> dict[str, object]:
    """Return the options that an automatic import stores for this body. Raises ValidationError, Invalid."""
    api = kind_of(kind).api
    assert api is not None  # operators upload only files of kinds with an API
    checked = api.settings_body(data=body)
    checked.is_valid(raise_exception=True)
    return kind_of(kind).checked_options(supplier, checked)


def options_of(draft: ImportDraft, body: dict[str, object]) -> dict[str, object]:
    """Return the options that an import of this draft gets. Raises ValidationError, Invalid."""
    options = saved_options(draft.supplier, draft.kind, body)
    return kind_of(draft.kind).with_mapping(draft.supplier, options)


def start(draft: ImportDraft, *, dry_run: bool, by: Actor) -> ImportJob:
    """Start an import or a dry run of a draft. Raises ValidationError, Invalid."""
    options = options_of(draft, draft.body)
    with transaction.atomic():
        job = start_import(
            draft.supplier,
            draft.kind,
            source=draft.name,
            blob=draft.blob,
            options=options,
            dry_run=dry_run,
            as_of=draft.created_at,
            by=by,
        )
        draft.jobs.add(job)
    return job


def start_again(tried: ImportJob, *, by: Actor) -> ImportJob:
    """Import the file of a dry run with the same options. Raises InvalidTransition when the file is gone."""
    with transaction.atomic():
        draft = tried.drafts.select_for_update(of=["self"]).first()
        if draft is None:
            raise InvalidTransition("The file is no longer stored. Upload it again.")
        job = start_import(
            tried.supplier,
            tried.kind,
            source=tried.source,
            blob=draft.blob,
            options=tried.options,
            as_of=tried.as_of,
            by=by,
        )
        draft.jobs.add(job)
    return job


def import_after(tried: ImportJob) -> ImportJob | None:
    """Return the newest import of a dry run's file that started after the dry run.

    The draft may be deleted, so compare `source` and `as_of`. `start_again` copies both fields to the
    import.
    """
    same = ImportJob.objects.of_a_kind_with(tried).filter(source=tried.source, as_of=tried.as_of)
    return same.filter(dry_run=False, pk__gt=tried.pk).order_by("-pk").first()


def forget_old() -> int:
    """Delete drafts that are a week old and return their number. Their blobs are deleted later."""
    old = ImportDraft.objects.filter(created_at__lt=Now() - KEPT).values_list("pk", "blob_id")[:AT_ONCE]
    return sum(discard(pk, blob_id) for pk, blob_id in old)


def discard(draft_id: int, blob_id: int) -> int:
    """Delete one draft and release its blob. Return 1, the number of drafts."""
    with transaction.atomic():
        ImportDraft.objects.filter(pk=draft_id).delete()
        contents.release([blob_id])
    return 1
