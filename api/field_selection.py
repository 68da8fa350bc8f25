"""`?fields=id,name`: only some fields of an answer (contract 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from api.errors import Invalid

FIELDS = OpenApiParameter("fields", str, description="The fields wanted, comma-separated; default all.")


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
