"""Strict JSON parsing. A text is refused if two parsers could read it differently."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import IO, Any

from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from api.errors import InvalidJson
from api.sizes import refuse_sprawling

# Arithmetic on a Decimal with an exponent of five digits can overflow, so such numbers are refused.
HUGE_EXPONENT = re.compile(r"[eE][+-]?[0-9]{5}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    body = dict(pairs)
    if len(body) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidJson(f"The key {twice[:60]!r} appears twice in one object. Send it once.")
    return body


def _decimal(text: str) -> Decimal:
    value = Decimal(text) if len(text) <= 60 and HUGE_EXPONENT.search(text) is None else None
    if value is None:
        raise InvalidJson(f"The number {text[:20]}… is too long.")
    return value


def _integer(text: str) -> int:
    if len(text) > 60:
        raise InvalidJson(f"The number {text[:20]}… is too long.")
    return int(text)


def _constant(name: str) -> float:
    """Refuse NaN and infinities, which Python accepts and JSON does not allow (RFC 8259, section 6)."""
    raise InvalidJson(f"The body is not JSON: {name} is not a JSON number. Leave the field out or send null.")


def loads(text: str | bytes) -> Any:
    """Parse JSON: UTF-8, each key once, numbers exact (int or Decimal). Raises InvalidJson, TooLarge."""
    refuse_sprawling(text if isinstance(text, bytes) else text.encode(errors="replace"))
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"The body is not UTF-8: byte {error.start} cannot be read. Send it as UTF-8."
        ) from error
    except json.JSONDecodeError as error:
        raise InvalidJson(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error


class StrictJSONParser(BaseParser):
    """The parser of `application/json`. An empty body is an empty object."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request = (parser_context or {})["request"]
        raw = whole_body(request)
        coding = request.headers.get("Content-Encoding", "identity")
        if raw and coding.strip().lower() not in ("", "identity"):
            raise UnsupportedMediaType(
                coding, f"The body has the Content-Encoding {coding[:40]!r}. Send it without a coding."
            )
        return loads(raw) if raw.strip() else {}


def whole_body(request: Request) -> bytes:
    """Return the complete body of a request. Raises InvalidJson if fewer bytes arrived than announced.

    Reading the stream directly would bypass the size limit. Without the check of the length, a body that is
    cut off before its first byte would look like no body: the cancellation of one line would become the
    cancellation of the whole order.
    """
    raw: bytes = request.body
    announced = request.META.get("CONTENT_LENGTH") or "0"
    if announced.isdigit() and len(raw) < int(announced):
        raise InvalidJson(f"The body was cut off: {len(raw)} of {announced} bytes arrived.")
    return raw
