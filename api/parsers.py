"""Reading JSON strictly: what two readers could understand in two ways is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.parsers import BaseParser

from api.errors import InvalidJson, PayloadTooLarge


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidJson(f"The key {twice!r} stands twice in one object.")
    return body


def _decimal(text: str) -> Decimal:
    if len(text) > 60:
        raise InvalidJson(f"The number {text[:20]}… is longer than any that is taken here.")
    return Decimal(text)


def _integer(text: str) -> int:
    if len(text) > 60:
        raise InvalidJson(f"The number {text[:20]}… is longer than any that is taken here.")
    return int(text)


def _no_constant(name: str) -> Any:
    raise InvalidJson(f"{name} is not a JSON value.")


def loads(text: str | bytes) -> Any:
    """Parse JSON: UTF-8, each key once, numbers exact (int or Decimal), no NaN. InvalidJson else."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text,
            object_pairs_hook=_once,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidJson(f"The body is not UTF-8: byte {error.start} cannot be read.") from error
    except json.JSONDecodeError as error:
        raise InvalidJson(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError as error:
        raise InvalidJson("The body is nested too deeply.") from error


class StrictJSONParser(BaseParser):
    """`application/json`, read by `loads`; no body at all reads as an empty object."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            raw = stream.read()
        except RequestDataTooBig as error:
            raise PayloadTooLarge("The body is larger than this service takes.") from error
        return loads(raw) if raw.strip() else {}
