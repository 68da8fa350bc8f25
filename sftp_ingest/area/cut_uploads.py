"""Uploads that were cut. They are kept for a day, and only their own login sees them (contract 8).

The content is an incomplete blob. The row says how many bytes of it are kept, so any server can resume it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

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
# A server notes every few seconds that bytes arrived. A silent one has died, or its client hangs.
SILENT = timedelta(seconds=30)
AT_ONCE = 200


class TakenUp(Refused):
    """Another connection resumed the upload."""

    def __init__(self) -> None:
        super().__init__("Another connection of this login resumed this upload.")


def kept() -> QuerySet[OpenUpload]:
    """Return the uploads that no server is writing and that are not too old."""
    free = OpenUpload.objects.filter(Q(holder="") | Q(heard_at__lt=Now() - SILENT))
    return free.exclude(heard_at__lt=Now() - KEPT)


def update(upload: OpenUpload, **fields: Any) -> None:
    """Change the row of an upload in progress. Raises TakenUp if another connection has resumed it."""
    held = OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder)
    if not held.update(**fields):
        raise TakenUp


def close(upload: OpenUpload) -> None:
    """Delete the row of a complete upload. Raises TakenUp if another connection has resumed it."""
    if not OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder).delete()[0]:
        raise TakenUp


def keep(upload: OpenUpload, cut: Checkpoint) -> None:
    """Keep an unfinished upload for resuming, instead of an earlier one at the same path. Raises TakenUp."""
    with Area(upload.supplier_id).change() as area:
        area.used_bytes -= remove(_of(upload.login_id, upload.path).exclude(pk=upload.pk))
        area.used_bytes -= upload.reserved_bytes - cut.size
        fields = {"kept_size": cut.size, "kept_notes": cut.state, "reserved_bytes": cut.size}
        update(upload, **fields, holder="", heard_at=Now())


def find(login: SftpLogin, parts: Parts) -> OpenUpload | None:
    """Return the login's cut upload to a path, if there is one."""
    return _of(login.pk, join_path(parts)).select_related("blob").order_by("-heard_at").first()


def _of(login_id: int, path: str) -> QuerySet[OpenUpload]:
    return kept().filter(login_id=login_id, path=path, kept_size__gt=0)


def take(upload: OpenUpload, holder: str) -> Writer | None:
    """Resume a cut upload; return None if another connection was faster. Raises OSError."""
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
    """Delete the login's cut uploads to a path; return whether there was one."""
    uploads = _of(login.pk, join_path(parts))
    if not uploads.exists():
        return False
    with Area(login.supplier_id).change() as area:
        area.used_bytes -= remove(uploads)
    return True


def drop_all_of(login: SftpLogin) -> None:
    """Delete all unfinished uploads of a login. An upload in progress fails at its next chunk."""
    with Area(login.supplier_id).change() as area:
        area.used_bytes -= remove(OpenUpload.objects.filter(login=login))


def remove(uploads: QuerySet[OpenUpload]) -> int:
    """Delete unfinished uploads of an area that the caller has locked; return their reserved bytes."""
    with transaction.atomic():
        locked = list(uploads.order_by("pk").select_for_update(of=("self",)))
        numbers = [upload.pk for upload in locked]
        OpenUpload.objects.filter(pk__in=numbers).delete()
        contents.drop(numbers)
    return sum(upload.reserved_bytes for upload in locked)


def remove_old() -> int:
    """Delete some uploads that were cut more than a day ago; return how many."""
    old = list(OpenUpload.objects.filter(heard_at__lt=Now() - KEPT).order_by("heard_at")[:AT_ONCE])
    for upload in old:
        forget(upload)
    return len(old)
