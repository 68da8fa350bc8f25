"""The OpenAPI schema, generated from the TypedDicts of the answers.

This module describes operations and adds the answers that every operation has. In `api.openapi`, `shapes`
turns TypedDicts into JSON Schema, `parameters` and `headers` hold shared parts, `naming` has ids and tags,
`examples` adds the examples, and `finishing` completes the document.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import ListSerializer

from api.envelope import ErrorJson
from api.etags import WRITTEN
from api.openapi.examples import add_examples
from api.openapi.headers import headers_of
from api.openapi.naming import operation_id, tag_of
from api.openapi.parameters import (
    CURSOR,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LIMIT,
    id_parameter,
    moment_parameter,
    path_parameters,
    with_limits,
)
from api.openapi.shapes import Shape, answers

__all__ = [
    "CURSOR",
    "IDEMPOTENCY_KEY",
    "IF_NONE_MATCH",
    "LIMIT",
    "EnvelopeSchema",
    "Shape",
    "answers",
    "id_parameter",
    "moment_parameter",
]

ALWAYS = {
    "401": "`unauthorized`: no key, or a wrong, expired or revoked one.",
    "403": "`forbidden`: the key's role, scope or network does not allow this, or the path names "
    "another party.",
    "404": "`not_found`: there is no such object, or it is another party's.",
    "405": "`method_not_allowed`: the path does not accept this method.",
    "406": "`not_acceptable`: Accept rules out application/json.",
    "431": "`headers_too_large`: a header is longer than 8,190 characters.",
    "429": "`rate_limited`: more requests than this key may make; see Retry-After.",
    "500": "`internal_error`: an error in the service. Nothing was changed.",
    "503": "`busy`: this request waited too long for another, or took too long; nothing was changed. "
    "`unavailable`: the service is temporarily unavailable. See Retry-After.",
}
WITH_BODY = {
    "400": "`invalid_json`: the body is unreadable. `missing_parameter`: required fields are absent. "
    "`validation_error`, `id_mismatch`: a field is wrong; `errors` names it.",
    "409": "`invalid_transition`, `order_held`, `order_conflict`, `cancel_conflict`, "
    "`sku_exists`, `insufficient_stock`, `trade_suspended`, `quota_exceeded`, `in_progress`: the "
    "state forbids it; the message says what is allowed.",
    "413": "`too_large` (once `payload_too_large`): the body is larger than 16 MiB, nested more than 50 "
    "deep, or an object in it has more than 1,000 members.",
    "415": "`unsupported_media_type`: the body is not application/json.",
}
WITH_QUERY = {
    "400": "`invalid_filter`, `invalid_cursor`, `validation_error`: a parameter is wrong; `errors` names it.",
    "414": "`uri_too_long`: path and query are longer than 8,190 characters.",
}
WITH_IDEMPOTENCY = {"422": "`idempotency_conflict`: the Idempotency-Key was used for another request."}
OF_KEYS = ("403", "404", "409")
"""Statuses that an operation without a key, such as the token endpoint, never answers."""
WITH_CONDITION = {"412": "`precondition_failed`: the object is not as If-Match says. Nothing was changed."}


class EnvelopeSchema(AutoSchema):
    """The schema of an operation, with its id, tag, headers and possible errors."""

    @property
    def action(self) -> str:
        return str(getattr(self.view, "action", None) or self.method.lower())

    def get_operation_id(self) -> str:
        return operation_id(self.path, self.method, self.action, getattr(self.view, "operation_ids", {}))

    def get_tags(self) -> list[str]:
        return [tag_of(self.path, type(self.view).__module__.partition(".")[0])]

    def get_serializer_name(self, serializer: object, direction: str) -> str:
        """Name a request schema with the suffix Body, because an answer may have the name without suffix."""
        return f"{type(serializer).__name__.removesuffix('Body')}Body"

    def get_override_parameters(self) -> list[Any]:
        if self._is_idempotent():
            return [IDEMPOTENCY_KEY]
        # Describe If-Match only on an object's own path: on other paths, generated clients would put this
        # parameter before the body.
        if self._is_conditional() and "get" in getattr(self.view, "action_map", {}):
            return [IF_MATCH]
        return [IF_NONE_MATCH] if self._shows_one_object() or self._shows_file() else []

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, object]]:
        return path_parameters(self.path)

    def _get_parameters(self) -> list[dict[str, object]]:
        return [with_limits(parameter) for parameter in super()._get_parameters()]

    def _map_serializer_field(
        self, field: object, direction: object, bypass_extensions: bool = False
    ) -> dict[str, object]:
        """Add the limits of an array, which drf-spectacular leaves out."""
        mapped: dict[str, object] = super()._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, ListSerializer) and mapped.get("type") == "array":
            limits = {
                "minItems": 0 if field.allow_empty else 1,
                "maxItems": getattr(field, "max_length", None),
            }
            mapped |= {name: limit for name, limit in limits.items() if limit}
        return mapped

    def _is_list_view(self, serializer: object = None) -> bool:
        """Tell whether to wrap an answer in an array. A Shape decides this itself with its `many`."""
        return not isinstance(serializer, Shape) and super()._is_list_view(serializer)

    def is_excluded(self) -> bool:
        """Leave out paths with a space, which exist for old clients and which many generators refuse."""
        return " " in self.path or bool(super().is_excluded())

    def get_operation(self, *args: object, **kwargs: object) -> dict[str, object] | None:
        operation: dict[str, object] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation.setdefault("security", [])
            self._add_answers(operation["responses"])
            add_examples(operation)
        return operation

    def _add_answers(self, responses: dict[str, Any]) -> None:
        for status, description in self._errors().items():
            responses.setdefault(status, self._error(description))
        one, many = self._shows_one_object() or self._shows_file(), self._shape_of_success("many")
        if one:
            responses.setdefault("304", {"description": "Nothing has changed since the ETag that you sent."})
        for status, response in responses.items():
            described = headers_of(
                status,
                method=self.method,
                action=self.action,
                replayed=self._is_idempotent(),
                many=bool(many),
                cached=one or self._shows_written_object(),
            )
            response["headers"] = described | response.get("headers", {})
        for status in sorted(responses):
            responses[status] = responses.pop(status)

    def _shows_one_object(self) -> bool:
        """Tell whether the operation reads a single object, which has an ETag (api.etags)."""
        shape = self._shape_of_success("shape")
        one = shape is not None and "results" not in shape.__annotations__
        return self.method == "GET" and one and not self._shape_of_success("many")

    def _shows_file(self) -> bool:
        """Tell whether the operation answers with a PDF file, which has an ETag."""
        answers: Any = self.get_response_serializers()
        return isinstance(answers, dict) and (200, "application/pdf") in answers

    def _shows_written_object(self) -> bool:
        """Tell whether the operation answers with the object that it has written (api.etags)."""
        answers = self.get_response_serializers()
        status = next((each for method, each in WRITTEN if method == self.method), None)
        success = answers.get(status) if isinstance(answers, dict) else None
        shape = getattr(getattr(success, "response", None), "shape", None)
        return shape is not None and "success" not in shape.__annotations__

    def _is_idempotent(self) -> bool:
        """Tell whether the operation accepts an Idempotency-Key (accounts.idempotency)."""
        return self.method == "POST" and bool(self.get_auth())

    def _is_conditional(self) -> bool:
        """Tell whether the operation accepts If-Match (api.etags)."""
        return self.method in ("PUT", "PATCH", "DELETE") and bool(self.get_auth())

    def _shape_of_success(self, name: str) -> Any:
        answers = self.get_response_serializers()
        success = answers.get(200) if isinstance(answers, dict) else None
        return getattr(getattr(success, "response", None), name, None)

    def _error(self, description: str) -> dict[str, object]:
        error = self.resolve_serializer(Shape(ErrorJson), "response")
        return {"description": description, "content": {"application/json": {"schema": error.ref}}}

    def _errors(self) -> dict[str, str]:
        if self.method == "GET":
            return ALWAYS | WITH_QUERY | getattr(self.view, "more_errors", {}).get(self.action, {})
        if not self.get_auth():
            return {status: text for status, text in (ALWAYS | WITH_BODY).items() if status not in OF_KEYS}
        condition = WITH_CONDITION if self._is_conditional() else {}
        return ALWAYS | WITH_BODY | (WITH_IDEMPOTENCY if self._is_idempotent() else condition)
