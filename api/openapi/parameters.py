"""Parameters that many operations take, each with its limits."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from api.openapi.shapes import ID

DEFAULT_LIMIT, MOST = 100, 500
LONGEST_KEY = 255
LONGEST = 1000

LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT},
    description="The maximum number of items.",
)
CURSOR = OpenApiParameter(
    "cursor",
    {"type": "string", "maxLength": LONGEST},
    description="The page to read; opaque, taken from the `next` link.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
    OpenApiParameter.HEADER,
    description="A key of your choice. The first answer is kept for 24 h and replayed to the same request.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    {"type": "string", "maxLength": LONGEST},
    OpenApiParameter.HEADER,
    description="The `ETag` of the answer that you have. The answer is 304 while it is the newest.",
)

IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "maxLength": LONGEST},
    OpenApiParameter.HEADER,
    description="The `ETag` of the object as you know it. If the object has changed, the answer is 412.",
)

_QUERY_PARAMETERS: dict[tuple[type, str], frozenset[str]] = {}
"""A cache of the results of `query_parameters`, by viewset and action."""

IN_PATHS = re.compile(r"\{(\w+)\}")


def id_parameter(name: str, description: str) -> OpenApiParameter:
    """Return the parameter of a filter by an object's id."""
    return OpenApiParameter(name, ID, description=description)


def moment_parameter(name: str, description: str) -> OpenApiParameter:
    """Return the parameter of a filter by a date-time."""
    return OpenApiParameter(name, OpenApiTypes.DATETIME, description=description)


def query_parameters(view: Any) -> frozenset[str]:
    """Return the names of the query parameters that the schema documents for the view's GET request."""
    key = type(view), view.action
    if key not in _QUERY_PARAMETERS:
        # `extend_schema` has stored the schema's class in the `kwargs` of the method.
        schema = getattr(getattr(view, view.action), "kwargs", {}).get("schema", type(view.schema))()
        schema.view, schema.method = view, "GET"
        parameters = schema.get_override_parameters()
        names = (each.name for each in parameters if each.location == OpenApiParameter.QUERY)
        _QUERY_PARAMETERS[key] = frozenset(names)
    return _QUERY_PARAMETERS[key]


def path_parameters(path: str) -> list[dict[str, object]]:
    """Return the parameters of a path, all of which are ids."""
    return [
        {
            "in": "path",
            "name": name,
            "required": True,
            "schema": ID,
            "description": f"The {name.removesuffix('_id').replace('_', ' ')}'s id.",
        }
        for name in IN_PATHS.findall(path)
    ]


def with_limits(parameter: dict[str, Any]) -> dict[str, object]:
    """Add a maximum length to a text parameter without one."""
    schema = parameter["schema"]
    if schema.get("type") == "string" and not {"maxLength", "enum", "format"} & set(schema):
        return {**parameter, "schema": {**schema, "maxLength": LONGEST}}
    return parameter
