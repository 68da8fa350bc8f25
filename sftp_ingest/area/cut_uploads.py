"""Cut uploads: uploads whose connection ended before the file was complete (contract 8).

They are kept for a day, and only their own login sees them. The content is an incomplete blob. The row has
the number of kept bytes, so any SFTP server process can resume the upload.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from sftp_ingest.area import contents
from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.blobs.store import CannotResume, Checkpoint, Writer
from sftp_ingest.blobs.stores import store_named
from sftp_ingest.errors import Refused
from sftp_ingest.models import OpenUpload, SftpLogin

KEPT = timedelta(days=1)
# While bytes arrive, a server updates `heard_at` every few seconds. After this time without an update, the
# server has died or its client hangs, and the upload can be resumed.
SILENT = timedelta(seconds=30)
AT_ONCE = 200


class TakenUp(Refused):
    """The error for an upload that another connection has resumed."""

    def __init__(self) -> None:
        super().__init__("Another connection of this login resumed this upload.")


def kept() -> QuerySet[OpenUpload]:
    """Return the uploads that can be resumed: no server writes them, and they are younger than KEPT."""
    free = OpenUpload.objects.filter(Q(holder="") | Q(heard_at__lt=Now() - SILENT))
    return free.exclude(heard_at__lt=Now() - KEPT)


def update(upload: OpenUpload, **fields: object) -> None:
    """Change the row of an upload in progress. Raises TakenUp if another connection has resumed it."""
    held = OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder)
    if not held.update(**fields):
        raise TakenUp


def close(upload: OpenUpload) -> None:
    """Delete the row of a complete upload. Raises TakenUp if another connection has resumed it."""
    if not OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder).delete()[0]:
        raise TakenUp


def keep(upload: OpenUpload, cut: Checkpoint) -> None:
    """Keep an unfinished upload, and delete an earlier cut upload to the same path. Raises TakenUp."""
    with Area(upload.supplier_id).change() as area:
        area.used_bytes -= remove(_of(upload.login_id, upload.supplier_id, upload.path).exclude(pk=upload.pk))
        area.used_bytes -= upload.reserved_bytes - cut.size
        fields = {"kept_size": cut.size, "kept_notes": cut.state, "reserved_bytes": cut.size}
        update(upload, **fields, holder="", heard_at=Now())


def find(login: SftpLogin, parts: Parts) -> OpenUpload | None:
    """Return the newest cut upload of a login to a path, or None."""
    return (
        _of(login.pk, login.supplier_id, join_path(parts))
        .select_related("blob")
        .order_by("-heard_at")
        .first()
    )


def _of(login_id: int, supplier_id: int, path: str) -> QuerySet[OpenUpload]:
    """Return the cut uploads of a login to a path, without uploads for a former supplier of the login."""
    return kept().filter(login_id=login_id, supplier_id=supplier_id, path=path, kept_size__gt=0)


def take(upload: OpenUpload, holder: str) -> Writer | None:
    """Resume a cut upload. Raises OSError.

    Return None if another connection resumed the upload first, or if its content is lost. A lost upload is
    deleted.
    """
    lapsed = bool(upload.holder)
    mine = kept().filter(pk=upload.pk, holder=upload.holder)
    if not mine.update(holder=holder, heard_at=Now()):
        return None
    upload.holder = holder
    store, cut = store_named(upload.blob.store), Checkpoint(upload.kept_size, upload.kept_notes)
    try:
        return store.resume(upload.pk, cut, lapsed=lapsed)
    except CannotResume:
        forget(upload)
        return None


def forget(upload: OpenUpload) -> None:
    """Delete an upload and its content, unless another connection has resumed it."""
    with Area(upload.supplier_id).change() as area:
        area.used_bytes -= remove(OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder))


def drop(login: SftpLogin, parts: Parts) -> bool:
    """Delete the login's cut uploads to a path. Return whether there were any."""
    uploads = _of(login.pk, login.supplier_id, join_path(parts))
    if not uploads.exists():
        return False
    with Area(login.supplier_id).change() as area:
        area.used_bytes -= remove(uploads)
    return True


def drop_all_of(login: SftpLogin) -> None:
    """Delete all unfinished uploads of a login. An upload in progress fails at its next checkpoint or end."""
    uploads = OpenUpload.objects.filter(login=login)
    # A session that was open when the login was given to another supplier writes for the former supplier.
    for supplier_id in sorted({upload.supplier_id for upload in uploads}):
        with Area(supplier_id).change() as area:
            area.used_bytes -= remove(uploads.filter(supplier_id=supplier_id))


def remove(uploads: QuerySet[OpenUpload]) -> int:
    """Delete unfinished uploads of an area that the caller has locked. Return the sum of reserved bytes."""
    with transaction.atomic():
        locked = list(uploads.order_by("pk").select_for_update(of=("self",)))
        numbers = [upload.pk for upload in locked]
        OpenUpload.objects.filter(pk__in=numbers).delete()
        contents.drop(numbers)
    return sum(upload.reserved_bytes for upload in locked)


def remove_old() -> int:
    """Delete a batch of uploads that were cut more than a day ago, and return their number."""
    old = list(OpenUpload.objects.filter(heard_at__lt=Now() - KEPT).order_by("heard_at")[:AT_ONCE])
    for upload in old:
        forget(upload)
    return len(old)
