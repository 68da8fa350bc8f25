"""Uploads that were cut: kept for a day for the login that began them, seen by nothing else (contract 13).

Their content is an open blob, and their row says how much of it is kept: so that any server goes on with it.
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
from sftp_ingest.blobs.store import CannotGoOn, Kept, Writer
from sftp_ingest.blobs.stores import store_named
from sftp_ingest.errors import Refused
from sftp_ingest.models import OpenUpload, SftpLogin

KEPT = timedelta(days=1)
# A server says each few seconds that bytes came. One that says nothing has died, or its client hangs.
SILENT = timedelta(seconds=30)
AT_ONCE = 200


class TakenUp(Refused):
    """Another connection went on with an upload."""

    def __init__(self) -> None:
        super().__init__("Another connection of this login went on with this upload.")


def kept() -> QuerySet[OpenUpload]:
    """Those that no server is at, and that are not too old."""
    free = OpenUpload.objects.filter(Q(holder="") | Q(heard_at__lt=Now() - SILENT))
    return free.exclude(heard_at__lt=Now() - KEPT)


def update(upload: OpenUpload, **fields: Any) -> None:
    """Write to the row of an upload that is under way. Raises TakenUp when others are at it by now."""
    held = OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder)
    if not held.update(**fields):
        raise TakenUp


def close(upload: OpenUpload) -> None:
    """Remove the row of an upload that is complete. Raises TakenUp when others are at it by now."""
    if not OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder).delete()[0]:
        raise TakenUp


def keep(upload: OpenUpload, cut: Kept) -> None:
    """Leave an unfinished upload to whoever goes on with it, in place of an earlier try at the same path.

    Raises TakenUp.
    """
    with Area(upload.supplier_id).change() as area:
        area.used_bytes -= remove(_of(upload.login_id, upload.path).exclude(pk=upload.pk))
        area.used_bytes -= upload.reserved_bytes - cut.size
        fields = {"kept_size": cut.size, "kept_notes": cut.state, "reserved_bytes": cut.size}
        update(upload, **fields, holder="", heard_at=Now())


def find(login: SftpLogin, parts: Parts) -> OpenUpload | None:
    """The login's upload to that path that was cut; None when there is none."""
    return _of(login.pk, join_path(parts)).select_related("blob").order_by("-heard_at").first()


def _of(login_id: int, path: str) -> QuerySet[OpenUpload]:
    return kept().filter(login_id=login_id, path=path, kept_size__gt=0)


def take(upload: OpenUpload, holder: str) -> Writer | None:
    """Take a cut upload up again; None when another connection was faster. Raises OSError."""
    lapsed = bool(upload.holder)
    mine = kept().filter(pk=upload.pk, holder=upload.holder)
    if not mine.update(holder=holder, heard_at=Now()):
        return None
    upload.holder = holder
    store, cut = store_named(upload.blob.store), Kept(upload.kept_size, upload.kept_notes)
    try:
        return store.resume(upload.pk, cut, lapsed=lapsed)
    except CannotGoOn:
        forget(upload)
        return None


def forget(upload: OpenUpload) -> None:
    """Remove an upload that is not to go on, and its content. One that was taken up by others stays."""
    with Area(upload.supplier_id).change() as area:
        area.used_bytes -= remove(OpenUpload.objects.filter(pk=upload.pk, holder=upload.holder))


def drop(login: SftpLogin, parts: Parts) -> bool:
    """Forget the login's cut uploads to that path; whether there was any."""
    found = _of(login.pk, join_path(parts))
    if not found.exists():
        return False
    with Area(login.supplier_id).change() as area:
        area.used_bytes -= remove(found)
    return True


def drop_all_of(login: SftpLogin) -> None:
    """Forget what a login has not finished; what is under way ends at its next piece."""
    with Area(login.supplier_id).change() as area:
        area.used_bytes -= remove(OpenUpload.objects.filter(login=login))


def remove(uploads: QuerySet[OpenUpload]) -> int:
    """Remove unfinished uploads of an area that the caller has locked; return what they had of its quota."""
    with transaction.atomic():
        found = list(uploads.select_for_update(of=("self",)))
        numbers = [upload.pk for upload in found]
        OpenUpload.objects.filter(pk__in=numbers).delete()
        contents.drop(numbers)
    return sum(upload.reserved_bytes for upload in found)


def remove_old() -> int:
    """Remove what was cut more than a day ago, some at a time; return how many."""
    old = OpenUpload.objects.filter(heard_at__lt=Now() - KEPT).order_by("heard_at")
    found = list(old[:AT_ONCE])
    for upload in found:
        forget(upload)
    return len(found)
