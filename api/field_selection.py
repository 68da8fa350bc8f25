"""`?fields=id,name`: only some fields of an answer (contract 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from api.errors import Invalid
from api.openapi.parameters import LONGEST


def fields_of(shape: type) -> OpenApiParameter:
    """The parameter, for an answer of that TypedDict: it takes its fields, and no other."""
    one = f"({'|'.join(shape.__annotations__)})"
    return OpenApiParameter(
        "fields",
        {"type": "string", "maxLength": LONGEST, "pattern": f"^{one}(,{one})*$"},
        description="The fields wanted, comma-separated; default all. The answer then has these alone.",
    )


def field_selection(request: Request, shape: type) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """A function that cuts an answer of that TypedDict to the fields asked for.

    Raises Invalid for unknown ones.
    """
    known = list(shape.__annotations__)
    asked = {name.strip() for name in request.query_params.get("fields", "").split(",")} - {""}
    unknown = sorted(asked.difference(known))
    if unknown:
        raise Invalid.at(
            "fields", f"Unknown field {unknown[0][:60]}. The fields are {', '.join(known)}.", "unknown"
        )
    wanted = [name for name in known if name in asked] or known
    return lambda answer: {name: answer[name] for name in wanted}
