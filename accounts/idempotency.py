"""Idempotency: the first response to a request is stored, and repetitions get it (contract 2 and 12)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import IdempotencyKey
from api.errors import IdempotencyConflict, InProgress, Invalid
from api.parsers import loads

HEADER = "Idempotency-Key"
STORED_HEADERS = ("Location", "Link", "Cache-Control")
LONGEST = 255
IN_PROGRESS = "A request with this Idempotency-Key is in progress. Try again shortly."


def idempotently(
    request: Request, party: str, work: Callable[[], Response], *, piecemeal: bool = False
) -> Response:
    """Do the work once for each Idempotency-Key.

    `work` returns a response for every failure. The changes of `work` are in a savepoint, and an error
    response rolls them back. The key's row and the changes are committed together, so a crash leaves neither.

    With `piecemeal`, the work has one transaction for each element of the body. The key's row is written
    after the last element. After a crash, a repetition of the request does the work again, and each element
    detects that it is repeated (contract 13).
    """
    key = request.headers.get(HEADER)
    if request.method != "POST" or key is None:
        return work()
    if not 0 < len(key) <= LONGEST or "\x00" in key:
        raise Invalid.at(HEADER, f"Must have 1 to {LONGEST} characters.")
    digest = _digest(request)
    with _locked(f"{party} {key}") if piecemeal else _in_transaction(f"{party} {key}"):
        stored = _stored_answer(party, key)
        if stored is not None:
            return _replay(stored, digest)
        response = _rendered(work) if piecemeal else _in_savepoint(work)
        if _is_final(response):
            _store(response, party, key, digest)
    return response


@contextmanager
def _in_transaction(name: str) -> Iterator[None]:
    """Open a transaction and take the key's lock in it. The lock ends with the commit."""
    with transaction.atomic():
        if not _try_lock(connection, name):
            raise InProgress(IN_PROGRESS)
        yield


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Take the key's lock in a transaction of a second connection, so that the work can commit in steps.

    The lock ends when the process dies. A session lock is not possible: a connection pooler in transaction
    mode would give the session, with its lock, to the next client.
    """
    other = connection.copy()
    try:
        other.set_autocommit(False)
        if not _try_lock(other, name):
            raise InProgress(IN_PROGRESS)
        yield
        # PostgreSQL notices a closed connection later, and would refuse a quick repetition. A connection that
        # is already lost has no lock.
        with suppress(DatabaseError):
            other.rollback()
    finally:
        other.close()


def _stored_answer(party: str, key: str) -> IdempotencyKey | None:
    """Return the stored first response, or None. Delete a response whose retention time is over."""
    stored = IdempotencyKey.objects.filter(party=party, key=key).first()
    if stored is not None and stored.created_at <= timezone.now() - settings.IDEMPOTENCY_RETENTION:
        stored.delete()
        return None
    return stored


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
    """Return a digest of method, path and body. Two requests with the same digest are repetitions.

    Leave out the query: no POST has query parameters, so all of them are ignored. Some clients add the
    current time to each URL, also when they repeat a request.
    """
    path = request.get_full_path().partition("?")[0]
    head = f"{request.method} {path}\n".encode()
    return hashlib.sha256(head + request.body).hexdigest()


def _try_lock(holder: BaseDatabaseWrapper, name: str) -> bool:
    """Take the key's advisory lock on the connection `holder`. Return False if another request has it."""
    with holder.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 1))", [name])
        return bool(cursor.fetchone()[0])


def _is_final(response: Response) -> bool:
    """Return whether to repeat this response for later requests with the same idempotency key.

    A refused API key, a rate limit and a server error can be temporary, so their responses are not repeated.
    """
    if response.status_code in (401, 403, 429) or response.status_code >= 500:
        return False
    return not (response.status_code == 409 and (response.data or {}).get("code") == InProgress.code)


def _store(response: Response, party: str, key: str, digest: str) -> None:
    row = IdempotencyKey(
        party=party,
        key=key,
        request_digest=digest,
        status=response.status_code,
        headers={name: response[name] for name in STORED_HEADERS if name in response},
    )
    # A response with no-store shows a secret, such as the secret of a new webhook.
    shows_secret = "no-store" in response.get("Cache-Control", "")
    row.with_body(response.content, secret=shows_secret).save(force_insert=True)


def _replay(stored: IdempotencyKey, digest: str) -> Response:
    if stored.request_digest != digest:
        raise IdempotencyConflict("This Idempotency-Key was used for another request. Use a new one.")
    try:
        body = stored.read_body()
    except ValueError as error:
        raise IdempotencyConflict(
            "The request was done, but its stored answer holds a secret that cannot be read any more. "
            "Read the current data, and use a new Idempotency-Key for another request."
        ) from error
    headers = {**stored.headers, "Idempotent-Replayed": "true"}
    return Response(loads(body), status=stored.status, headers=headers)
