"""Errors as classes with codes, and the one handler that turns them into the envelope."""

from __future__ import annotations

import functools
import logging
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from api import envelope
from api.envelope import FieldErrorJson
from api.spelling import path_hint

logger = logging.getLogger(__name__)

# An answer names at most this many faults. A larger number of faults usually has one common reason.
MOST_ERRORS = 100
LONGEST_PATH = 200
LONGEST_MESSAGE = 500


class ApiError(Exception):
    """A failed request: the code, the status and the message that the client sees."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, message: str, errors: list[FieldErrorJson] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors

    def answer_headers(self) -> dict[str, str]:
        """Return the headers of the answer that reports this error."""
        return dict(self.headers)

    @classmethod
    def at(cls, field: str, message: str, code: str = "invalid") -> ApiError:
        """Return this error for a single field."""
        return cls.of([field_error(field, message, code)])

    @classmethod
    def of(cls, faults: Sequence[FieldErrorJson], reason: str = "") -> ApiError:
        """Return this error for several faults. Its message names the first three, and then the reason."""
        named = "; ".join(f"{fault['field']}: {fault['message']}" for fault in faults[:3])
        more = f"; and {len(faults) - 3} more." if len(faults) > 3 else ""
        return cls(f"{named}{more} {reason}".rstrip(), list(faults[:MOST_ERRORS]))


class Invalid(ApiError):
    code, status = "validation_error", 400


class InvalidJson(ApiError):
    code, status = "invalid_json", 400


class InvalidFilter(ApiError):
    code, status = "invalid_filter", 400


class InvalidCursor(ApiError):
    code, status = "invalid_cursor", 400


class InvalidCurrency(ApiError):
    """A code that is no currency of ISO 4217."""

    code, status = "invalid_currency", 400


class InvalidDate(ApiError):
    """A date in the past, for a field that takes only today or later."""

    code, status = "invalid_date", 400


class PreconditionFailed(ApiError):
    code, status = "precondition_failed", 412


class IdMismatch(ApiError):
    code, status = "id_mismatch", 400


class Unauthorized(ApiError):
    code, status = "unauthorized", 401
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "Bearer"}


class Forbidden(ApiError):
    code, status = "forbidden", 403


class NotFound(ApiError):
    """An object that does not exist or belongs to another party."""

    code, status = "not_found", 404

    def __init__(self, message: str = "There is no such object.") -> None:
        super().__init__(message)


class InvalidTransition(ApiError):
    code, status = "invalid_transition", 409


class InProgress(ApiError):
    code, status = "in_progress", 409


class TooLarge(ApiError):
    """A body over a size limit, which is refused unread (contract 2, *Body size*)."""

    code, status = "too_large", 413


class IdempotencyConflict(ApiError):
    code, status = "idempotency_conflict", 422


class RateLimited(ApiError):
    """More requests than a limit allows. `counted` shows the limit; after `wait` seconds, try again."""

    code, status = "rate_limited", 429

    def __init__(self, message: str, *, wait: int, counted: Mapping[str, str]) -> None:
        super().__init__(message)
        self.wait, self.counted = wait, counted

    def answer_headers(self) -> dict[str, str]:
        return {**super().answer_headers(), **self.counted, "Retry-After": str(self.wait)}


class Unavailable(ApiError):
    code, status = "unavailable", 503
    headers: ClassVar[dict[str, str]] = {"Retry-After": "5"}


class Busy(ApiError):
    """The request waited too long for a lock, or a statement reached its time limit."""

    code, status = "busy", 503
    headers: ClassVar[dict[str, str]] = {"Retry-After": "5"}


def field_error(field: str, message: str, code: str = "invalid") -> FieldErrorJson:
    """Describe one fault of one field. Long quotes from the request are cut."""
    return {"field": field[:LONGEST_PATH], "code": code, "message": message[:LONGEST_MESSAGE]}


def answer(error: ApiError) -> Response:
    return Response(
        envelope.error(error.code, error.message, error.errors),
        status=error.status,
        headers=error.answer_headers(),
    )


def envelope_handler(exc: Exception, context: Mapping[str, object]) -> Response:
    """Answer any exception with the envelope. An unforeseen exception is logged and becomes a 500."""
    if isinstance(exc, ApiError):
        return answer(exc)
    if isinstance(exc, exceptions.ValidationError):
        return answer(invalid_fields(exc.detail))
    if isinstance(exc, exceptions.APIException):
        return _framework_error(exc)
    if isinstance(exc, Http404):
        return answer(NotFound())
    if isinstance(exc, PermissionDenied):
        return answer(Forbidden("This key is not allowed to do that."))
    if isinstance(exc, RequestDataTooBig):
        return answer(TooLarge("The body is larger than this service accepts."))
    if isinstance(exc, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return answer(Invalid(f"The URL has too many parameters. The maximum is {most}."))
    if isinstance(exc, UnreadablePostError):
        return answer(InvalidJson("The body was cut off before its end."))
    if _is_unstorable_text(exc):
        return answer(Invalid("A string holds a NUL character or an unpaired surrogate. Remove it."))
    if lost_database(exc):
        return answer(database_error(exc))
    logger.error("unforeseen error", exc_info=exc)
    return answer(ApiError(UNFORESEEN))


UNFORESEEN = "The service failed, and nothing was changed. Quote the request_id when you ask for help."
BUSY = {
    "55P03": "Another request is changing the same rows, so nothing was changed.",
    "40P01": "Another request changed the same rows at the same time, so nothing was changed.",
    "57014": "The request exceeded the time limit, so nothing was changed.",
    "25P03": "The request was idle for longer than the time limit, so nothing was changed.",
}
"""Messages by SQLSTATE: lock timeout, deadlock, statement timeout, idle transaction timeout."""


def lost_database(exc: Exception) -> bool:
    """Tell whether the database was unreachable or busy. In this case the request is not at fault."""
    return isinstance(exc, OperationalError | InterfaceError) or _state_of(exc) in BUSY


def _state_of(exc: Exception) -> str:
    return getattr(exc.__cause__, "sqlstate", None) or ""


def database_error(exc: Exception) -> ApiError:
    """Return Busy for a lock or a time limit (see BUSY), and Unavailable for an unreachable database."""
    reason = BUSY.get(_state_of(exc))
    if reason:
        logger.warning("busy: %s", exc)
        return Busy(f"{reason} Try again in a few seconds.")
    logger.error("the database did not answer", exc_info=exc)
    return Unavailable("The database does not answer at the moment. Try again in a few seconds.")


def _is_unstorable_text(exc: Exception) -> bool:
    """Tell whether the error is about a character that PostgreSQL cannot store.

    Query parameters and JSON fields without a fixed structure can contain such characters.
    """
    if isinstance(exc, UnicodeEncodeError):
        return "surrogates" in exc.reason
    return isinstance(exc, DataError) and ("NUL (0x00)" in str(exc) or r"\u0000" in str(exc))


FRAMEWORK_CODES = {
    400: "invalid_json",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
}


def _framework_error(exc: exceptions.APIException) -> Response:
    headers = {}
    if exc.status_code == 401:
        headers["WWW-Authenticate"] = "Bearer"
    wait = getattr(exc, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    message = str(exc.detail)
    if isinstance(exc, exceptions.UnsupportedMediaType):
        message = f"{message} Bodies are JSON: send Content-Type: application/json."
        headers["Accept"] = "application/json"
    code = FRAMEWORK_CODES.get(exc.status_code, "internal_error")
    return Response(envelope.error(code, message), status=exc.status_code, headers=headers)


def invalid_fields(detail: object) -> ApiError:
    """Turn the faults from serializers into one error.

    If all faults have the same code, and `ERROR_OF_FAULT` has an error class for this code, use this class.
    """
    faults = list(_flatten(detail, ""))
    codes = {fault["code"] for fault in faults}
    error = ERROR_OF_FAULT.get(codes.pop(), Invalid) if len(codes) == 1 else Invalid
    return error.of(faults)


class MissingParameter(ApiError):
    code, status = "missing_parameter", 400


ERROR_OF_FAULT: Mapping[str, type[ApiError]] = {
    "required": MissingParameter,
    InvalidCurrency.code: InvalidCurrency,
    InvalidDate.code: InvalidDate,
}
"""The class of the error if all faults of a request have this code. The class for other codes is Invalid."""


def _flatten(detail: object, path: str) -> Iterator[FieldErrorJson]:
    if isinstance(detail, dict):
        for key, value in detail.items():
            yield from _flatten(value, _join(path, key))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            if isinstance(value, dict | list):
                yield from _flatten(value, f"{path}[{index}]")
            else:
                yield from _flatten(value, path)
    else:
        yield field_error(path or "body", str(detail), getattr(detail, "code", "invalid"))


def _join(path: str, key: object) -> str:
    if key == "non_field_errors":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


def plain(error: ApiError) -> JsonResponse:
    """Return an error in the API's envelope, for code that runs outside of the API's views."""
    body = envelope.error(error.code, error.message)
    return JsonResponse(body, status=error.status, headers=error.answer_headers())


def only_read(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a plain Django view accept GET and HEAD, and answer other methods with the envelope."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, **named: str) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request, **named)
        message = f"{request.path} accepts only GET, not {request.method}."
        refusal = JsonResponse(envelope.error("method_not_allowed", message), status=405)
        refusal["Allow"] = "GET, HEAD"
        return refusal

    return csrf_exempt(guarded)


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Return the answer to a request that Django itself refuses, such as for an unknown Host header."""
    return plain(Invalid("The request is malformed, or its Host header is not a name of this service."))


def page_not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    return plain(NotFound(f"There is nothing at {request.path}. {path_hint(request.path)}"))


def server_error(request: HttpRequest) -> JsonResponse:
    """Return the answer after an exception in a view outside of the API.

    Django calls this inside the `except` block, so `sys.exc_info` has the exception.
    """
    error = sys.exc_info()[1]
    if isinstance(error, Exception) and lost_database(error):
        return plain(database_error(error))
    return plain(ApiError("The service failed. Quote the request_id when you ask for help."))
