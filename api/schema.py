"""The OpenAPI schema: answers are described by the very TypedDicts that the code builds them with."""

from __future__ import annotations

from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, build_array_type, resolve_type_hint
from drf_spectacular.utils import Direction, OpenApiParameter, OpenApiResponse

from api.envelope import ErrorJson

ALWAYS = {
    "401": "`unauthorized`: no key, or a wrong, expired or revoked one.",
    "403": "`forbidden`: the key's role, scope or network does not allow this, or the path names "
    "another party.",
    "404": "`not_found`: there is no such object, or it is another party's.",
    "405": "`method_not_allowed`: the path does not accept this method.",
    "406": "`not_acceptable`: Accept rules out application/json.",
    "429": "`rate_limited`: more requests than this key may make; see Retry-After.",
    "500": "`internal_error`: an error in the service. Nothing was changed.",
    "503": "`busy`: something that this request needs is held by another for too long; nothing was changed. "
    "`unavailable`: the service is temporarily unavailable. See Retry-After.",
}
WITH_BODY = {
    "400": "`invalid_json`: the body is unreadable. `missing_parameter`: required fields are absent. "
    "`validation_error`, `id_mismatch`: a field is wrong; `errors` names it.",
    "409": "`invalid_transition`, `order_held`, `order_conflict`, `cancel_conflict`, "
    "`sku_exists`, `insufficient_stock`, `quota_exceeded`, `in_progress`: the "
    "state forbids it; the message says what is allowed.",
    "413": "`too_large` (once `payload_too_large`): the body is larger than 16 MiB, nested more than 50 "
    "deep, or an object in it has more than 1,000 members.",
    "415": "`unsupported_media_type`: the body is not application/json.",
}
WITH_QUERY = {
    "400": "`invalid_filter`, `invalid_cursor`, `validation_error`: a parameter is wrong; `errors` names it."
}
WITH_IDEMPOTENCY = {"422": "`idempotency_conflict`: the Idempotency-Key was used for another request."}


class Shape:
    """An answer described by a TypedDict; `many` for an array of it."""

    def __init__(self, shape: type, *, many: bool = False) -> None:
        self.shape, self.many = shape, many


class ShapeExtension(OpenApiSerializerExtension):
    """Teaches the schema generator to read a Shape."""

    target_class = "api.schema.Shape"

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str | None:
        return self.target.shape.__name__.removesuffix("Json") + ("List" if self.target.many else "")

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        if self.target.many:
            one = auto_schema.resolve_serializer(Shape(self.target.shape), direction)
            return build_array_type(one.ref if isinstance(one, ResolvedComponent) else {})
        _know_required(self.target.shape)
        return resolve_type_hint(self.target.shape)


def _know_required(hint: Any) -> None:
    """Note on a TypedDict, and on those within it, which keys are always there.

    Where annotations are postponed, Python itself counts NotRequired keys among them.
    """
    for part in get_args(hint):
        _know_required(part)
    if is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        for field in fields.values():
            _know_required(field)
        hint.__required_keys__ = [
            name for name, field in fields.items() if get_origin(field) is not NotRequired
        ]


def answers(shape: type, description: str, *, many: bool = False) -> OpenApiResponse:
    """A documented answer: the TypedDict it has, and when it is given."""
    return OpenApiResponse(Shape(shape, many=many), description)


LIMIT = OpenApiParameter("limit", int, description="The maximum number of items, 1 to 500; default 100.")
CURSOR = OpenApiParameter("cursor", str, description="The page to read; opaque, taken from the `next` link.")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Up to 255 characters. The first answer is kept for 24 h and replayed to the same request.",
)


class EnvelopeSchema(AutoSchema):
    """Adds to every operation the errors that every operation can answer with."""

    def get_override_parameters(self) -> list[Any]:
        return [IDEMPOTENCY_KEY] if self.method == "POST" else []

    def _is_list_view(self, serializer: object = None) -> bool:
        """A Shape says itself whether it is an array; wrapping it again would make one of arrays."""
        return not isinstance(serializer, Shape) and super()._is_list_view(serializer)

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            for status, description in self._errors().items():
                operation["responses"].setdefault(status, self._error(description))
            operation["responses"] = dict(sorted(operation["responses"].items()))
        return operation

    def _errors(self) -> dict[str, str]:
        if self.method == "GET":
            return ALWAYS | WITH_QUERY
        return ALWAYS | WITH_BODY | (WITH_IDEMPOTENCY if self.method == "POST" else {})

    def _error(self, description: str) -> dict[str, Any]:
        error = self.resolve_serializer(Shape(ErrorJson), "response")
        return {"description": description, "content": {"application/json": {"schema": error.ref}}}
