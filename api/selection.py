"""The `fields` parameter: a client names the fields that it wants (contract 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from api.errors import Invalid

FIELDS = OpenApiParameter("fields", str, description="The fields wanted, parted by commas; default all.")


def selection(request: Request, shape: type) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that cuts an answer of that TypedDict to the fields asked for.

    Raises Invalid for one that there is not.
    """
    known = list(shape.__annotations__)
    asked = [name.strip() for name in request.query_params.get("fields", "").split(",") if name.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise Invalid.at("fields", f"There is no field {unknown[0][:100]}; there are {', '.join(known)}.")
    wanted = [name for name in known if name in asked] or known
    return lambda answer: {name: answer[name] for name in wanted}
