"""Exact JSON output: a Decimal is written as a number with all its digits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, overload

import msgspec
from rest_framework.renderers import BaseRenderer

_encoder = msgspec.json.Encoder(decimal_format="number")
_sorting_encoder = msgspec.json.Encoder(decimal_format="number", order="deterministic")


def encode(data: object) -> bytes:
    """Encode plain data as JSON. Decimals become numbers with all their digits."""
    try:
        return _encoder.encode(data)
    except UnicodeEncodeError:  # an error message quotes a lone surrogate
        return _encoder.encode(_encodable(data))


def encode_sorted(data: object) -> bytes:
    """Encode plain data as JSON with sorted keys, so that equal data gives equal bytes."""
    return _sorting_encoder.encode(data)


def _encodable(data: object) -> Any:
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode()
    if isinstance(data, dict):
        return {_encodable(key): _encodable(value) for key, value in data.items()}
    return [_encodable(item) for item in data] if isinstance(data, list | tuple) else data


class ExactJSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: object,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, object] | None = None,
    ) -> bytes:
        return b"" if data is None else encode(data)


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: None) -> None: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """Format a moment for the API: ISO 8601, UTC, microseconds, Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@overload
def number(value: Decimal) -> Decimal: ...
@overload
def number(value: None) -> None: ...
@overload
def number(value: Decimal | None) -> Decimal | None: ...
def number(value: Decimal | None) -> Decimal | None:
    """Return a stored decimal without the trailing zeros that its column added."""
    if value is None:
        return None
    stripped = value.normalize()
    return stripped if stripped.as_tuple().exponent <= 0 else stripped.quantize(Decimal(1))  # type: ignore[operator]
