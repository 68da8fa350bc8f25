"""Check the request bodies of imports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.request import Request

from api.bodies import json_of
from api.errors import Invalid


def checked(body: Callable[..., Any], request: Request) -> Any:
    """Return the checked serializer of a request's body. Raises ValidationError, Invalid."""
    data = json_of(request)
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    serializer = body(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer
