"""A large file comes from the browser in pieces, each a request of its own (ADR 72).

So no request is longer than any other may be, no file is held in memory, and the page can say how far it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat

from accounts.actors import Actor
from api.errors import Invalid, Unavailable
from imports.models import UploadPiece
from sftp_ingest.area import contents

KEPT = timedelta(days=1)
AT_ONCE = 1_000
ROUND_A_PIECE = 64 * 1024
"""What else a request holds that brings one."""
LARGEST_PIECE = 8 * 1024**2


def piece_bytes() -> int:
    """How large a piece may be; a file of up to this size comes in one request."""
    most: int = settings.MAX_BODY_BYTES
    return min(LARGEST_PIECE, most - ROUND_A_PIECE)


def keep_piece(upload: UUID, place: int, chunks: Iterable[bytes], *, by: Actor) -> None:
    """Keep a piece; the same place again takes its place. Raises Invalid where it is too much,
    Unavailable.
    """
    most: int = settings.BROWSER_UPLOAD_BYTES
    if place * piece_bytes() >= most:
        raise Invalid(f"The file is larger than {filesizeformat(most)}.")
    # Whoever begins anew, as after a fall of the line, is not kept from it by what came before.
    waiting = UploadPiece.objects.filter(person=by.name).exclude(upload=upload, place=place)
    if (waiting.aggregate(size=Sum("blob__size"))["size"] or 0) >= 2 * most:
        raise Invalid("Too much that you began to send is not whole yet. It is forgotten after a day.")
    try:
        blob = contents.write(chunks)
    except OSError as error:
        raise Unavailable("The file cannot be kept just now. Try again.") from error
    with transaction.atomic():
        _forget(UploadPiece.objects.filter(person=by.name, upload=upload, place=place))
        UploadPiece.objects.create(person=by.name, upload=upload, place=place, blob=blob)


def joined(upload: UUID, count: int, *, by: Actor) -> Iterator[bytes]:
    """The whole file, a chunk at a time. Raises Invalid where pieces are missing or are too much, OSError."""
    pieces = _of(upload, by).order_by("place").select_related("blob")
    found = list(pieces)
    if not count or [piece.place for piece in found] != list(range(count)):
        raise Invalid("Not all of the file arrived. Send it once more.")
    most: int = settings.BROWSER_UPLOAD_BYTES
    if sum(piece.blob.size for piece in found) > most:
        raise Invalid(f"The file is larger than {filesizeformat(most)}.")
    return _chunks(found)


def _chunks(pieces: Iterable[UploadPiece]) -> Iterator[bytes]:
    for piece in pieces:
        reader, position = contents.reader_of(piece.blob), 0
        try:
            while data := reader.read(position, contents.CHUNK_SIZE):
                yield data
                position += len(data)
        finally:
            reader.close()


def forget_pieces(upload: UUID, *, by: Actor) -> None:
    """The file is whole, or will not be."""
    _forget(_of(upload, by))


def forget_old() -> int:
    """Forget what was begun and not finished; return how many pieces. Their content is collected later."""
    old = UploadPiece.objects.filter(created_at__lt=Now() - KEPT).order_by("created_at")
    return _forget(UploadPiece.objects.filter(pk__in=[*old.values_list("pk", flat=True)[:AT_ONCE]]))


def _of(upload: UUID, by: Actor) -> QuerySet[UploadPiece]:
    return UploadPiece.objects.filter(person=by.name, upload=upload)


def _forget(pieces: QuerySet[UploadPiece]) -> int:
    with transaction.atomic():
        blobs = [*pieces.values_list("blob_id", flat=True)]
        count, _ = pieces.delete()
        contents.release(blobs)
    return count
