"""The first answer to a request is kept, and replayed to its repetitions (contract 2 and 12)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import IdempotencyKey
from api.errors import IdempotencyConflict, InProgress, Invalid
from api.parsers import loads

HEADER = "Idempotency-Key"
KEPT_HEADERS = ("Location", "Link", "Cache-Control")
LONGEST = 255
IN_PROGRESS = "A request with this Idempotency-Key is being worked on. Try again shortly."


def idempotently(
    request: Request, party: str, work: Callable[[], Response], *, piecemeal: bool = False
) -> Response:
    """Do the work once for each Idempotency-Key.

    `work` answers every failure with a response. Its changes live in a savepoint, so that a kept 400 or
    409 leaves only the key's row, which commits together with the work: a request that died left nothing.

    Work that is done `piecemeal` has a transaction for each of its elements, which know their repetition
    themselves. Its key's row follows the last of them; a request that died is done again (contract 13).
    """
    key = request.headers.get(HEADER)
    if request.method != "POST" or key is None:
        return work()
    if not 0 < len(key) <= LONGEST or "\x00" in key:
        raise Invalid.at(HEADER, f"Must have 1 to {LONGEST} characters.")
    asked = _digest(request)
    with _locked(f"{party} {key}") if piecemeal else _in_transaction(f"{party} {key}"):
        kept = _kept(party, key)
        if kept is not None:
            return _replay(kept, asked)
        response = _rendered(work) if piecemeal else _in_savepoint(work)
        if _worth_keeping(response):
            _keep(response, party, key, asked)
    return response


@contextmanager
def _in_transaction(name: str) -> Iterator[None]:
    """One transaction, and in it the key's lock: it ends with the commit."""
    with transaction.atomic():
        if not _try_lock(connection, name):
            raise InProgress(IN_PROGRESS)
        yield


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """The key's lock without a transaction around the work: one of another connection holds it.

    It goes when the process dies. Where a pooler lends sessions by the transaction, a lock of the session
    would stay behind with whoever gets that one next.
    """
    other = connection.copy()
    try:
        other.set_autocommit(False)
        if not _try_lock(other, name):
            raise InProgress(IN_PROGRESS)
        yield
    finally:
        other.close()


def _kept(party: str, key: str) -> IdempotencyKey | None:
    """The first answer, if it is not too old."""
    kept = IdempotencyKey.objects.filter(party=party, key=key).first()
    if kept is not None and kept.created_at <= timezone.now() - settings.IDEMPOTENCY_RETENTION:
        kept.delete()
        return None
    return kept


def _rendered(work: Callable[[], Response]) -> Response:
    response = work()
    response.render()
    return response


def _in_savepoint(work: Callable[[], Response]) -> Response:
    with transaction.atomic():
        response = _rendered(work)
        if response.status_code >= 400:
            transaction.set_rollback(True)
    return response


def _digest(request: Request) -> str:
    """What makes two requests the same: method, path and the body's bytes."""
    head = f"{request.method} {request.get_full_path()}\n".encode()
    return hashlib.sha256(head + request.body).hexdigest()


def _try_lock(holder: BaseDatabaseWrapper, name: str) -> bool:
    """Take the key's advisory lock, for the holder's transaction, without waiting."""
    with holder.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 1))", [name])
        return bool(cursor.fetchone()[0])


def _worth_keeping(response: Response) -> bool:
    if response.status_code in (401, 403, 429) or response.status_code >= 500:
        return False
    return not (response.status_code == 409 and (response.data or {}).get("code") == InProgress.code)


def _keep(response: Response, party: str, key: str, asked: str) -> None:
    kept = IdempotencyKey(
        party=party,
        key=key,
        request_digest=asked,
        status=response.status_code,
        headers={name: response[name] for name in KEPT_HEADERS if name in response},
    )
    # What nobody may store shows a secret, as that of a new webhook.
    shows_secret = "no-store" in response.get("Cache-Control", "")
    kept.with_body(response.content, secret=shows_secret).save(force_insert=True)


def _replay(kept: IdempotencyKey, asked: str) -> Response:
    if kept.request_digest != asked:
        raise IdempotencyConflict("This Idempotency-Key was used for another request; take a new one.")
    try:
        body = kept.read_body()
    except ValueError as error:
        raise IdempotencyConflict(
            "What was asked for is done, but its answer showed a secret that cannot be read any more. "
            "Look at what there is, and take a new Idempotency-Key for anything else."
        ) from error
    headers = {**kept.headers, "Idempotent-Replayed": "true"}
    return Response(loads(body), status=kept.status, headers=headers)
