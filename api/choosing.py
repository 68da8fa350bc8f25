"""`?fields=id,name`: only some fields of an answer (contract 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from api.errors import Invalid

FIELDS = OpenApiParameter("fields", str, description="Which fields to answer, parted by commas; default all.")


def chosen_fields(request: Request, shape: type) -> frozenset[str] | None:
    """The fields of a TypedDict that a request asks for; None for all. Raises Invalid for unknown ones."""
    text = request.query_params.get("fields", "")
    asked = frozenset(name.strip() for name in text.split(",") if name.strip())
    known = list(shape.__annotations__)
    unknown = sorted(asked.difference(known))
    if unknown:
        raise Invalid.at(
            "fields", f"There is no field {unknown[0][:60]}; there are {', '.join(known)}.", "unknown"
        )
    return asked or None


def choose(item: Mapping[str, Any], fields: frozenset[str] | None) -> dict[str, Any]:
    """An answer with only those fields."""
    return {name: value for name, value in item.items() if fields is None or name in fields}
