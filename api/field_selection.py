"""The parameter `fields=id,name`, which selects fields of an answer (contract 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from api.errors import Invalid
from api.openapi.parameters import LONGEST


def fields_of(shape: type) -> OpenApiParameter:
    """Return the parameter `fields` of an operation that answers the TypedDict `shape`, for OpenAPI."""
    one = f"({'|'.join(shape.__annotations__)})"
    return OpenApiParameter(
        "fields",
        {"type": "string", "maxLength": LONGEST, "pattern": f"^{one}(,{one})*$"},
        description="The fields of the answer, comma-separated. Default: all fields. The answer has no other "
        "fields, even if its schema requires them.",
    )


def field_selection(request: Request, shape: type) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """Return a function that reduces an answer to the requested fields. Raises Invalid for unknown fields."""
    known = list(shape.__annotations__)
    requested = {name.strip() for name in request.query_params.get("fields", "").split(",")} - {""}
    unknown = sorted(requested.difference(known))
    if unknown:
        raise Invalid.at(
            "fields", f"Unknown field {unknown[0][:60]}. The fields are {', '.join(known)}.", "unknown"
        )
    wanted = [name for name in known if name in requested] or known
    return lambda answer: {name: answer[name] for name in wanted}
