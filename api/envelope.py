"""The result envelope (interface 2.2), and the fields that an error adds to the envelope (contract 2)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from api.request_id import current_request_id


class ResultJson(TypedDict):
    """The answer to every status update, order push and order cancel."""

    success: bool
    message: str
    code: str


class FieldErrorJson(TypedDict):
    """One fault of one field; `field` is a path such as `order_lines[2].quantity`."""

    field: str
    code: str
    message: str


class ErrorJson(ResultJson):
    """The answer to a request that failed. `docs` is the page that explains the code."""

    request_id: str
    docs: str
    errors: NotRequired[list[FieldErrorJson]]


def result(code: str, message: str) -> ResultJson:
    return {"success": True, "message": message, "code": code}


def error(code: str, message: str, errors: list[FieldErrorJson] | None = None) -> ErrorJson:
    body: ErrorJson = {
        "success": False,
        "message": message,
        "code": code,
        "request_id": current_request_id(),
        "docs": f"/v3/docs/errors#{code}",
    }
    if errors:
        body["errors"] = errors
    return body
