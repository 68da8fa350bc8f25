"""Check bodies and return the options that a job stores."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.models import Supplier
from api.bodies import json_of
from api.errors import Invalid
from imports.pipeline.importer import importer_of
from imports.serializers import ProductMappingBody, StockMappingBody


def checked(body: type[Any], request: Request) -> Any:
    """Return a checked body, which has `options`. Raises ValidationError."""
    data = json_of(request)
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    serializer = body(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer


def options_of(kind: str, body: ProductMappingBody | StockMappingBody, supplier: Supplier) -> dict[str, Any]:
    return importer_of(kind).check(supplier, body.options())
