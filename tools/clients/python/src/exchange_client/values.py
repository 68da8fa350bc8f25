"""Conversions of values: exact decimals in answers, dates and decimals in requests, rows of CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from exchange_client.models import DECIMALS


def read_json(content: bytes | str) -> Any:
    """Parse JSON. Amounts, weights and other decimal numbers become Decimal, also if written as `24`."""
    return json.loads(content, parse_float=Decimal, object_hook=_exact)


def write_json(body: object) -> bytes:
    """Return a body as JSON. Raises ValueError for a Decimal with more digits than a float keeps."""
    return json.dumps(body, default=_json_value, allow_nan=False).encode()


def csv_lines(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return rows as CSV lines for the `data` of an import. The keys of the first row are the header."""
    table = iter(rows)
    first = next(table, None)
    if first is None:
        return []
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(first), lineterminator="\r\n")
    writer.writeheader()
    writer.writerow(first)
    writer.writerows(table)
    return text.getvalue().removesuffix("\r\n").split("\r\n")


def query_value(value: object) -> Any:
    """Return a query value, with dates and times in the service's format."""
    return value.isoformat() if isinstance(value, date) else value


def _exact(found: dict[str, Any]) -> dict[str, Any]:
    for name in DECIMALS.intersection(found):
        if type(found[name]) is int:
            found[name] = Decimal(found[name])
    return found


def _json_value(value: object) -> object:
    """Return a date as text, and a Decimal as a number. Raises ValueError, TypeError."""
    if isinstance(value, date):  # a datetime is a date, too
        return value.isoformat()
    if isinstance(value, Decimal):
        number = float(value)
        if Decimal(repr(number)) != value:
            raise ValueError(f"{value} has more digits than a JSON number keeps")
        return number
    raise TypeError(f"{value!r} cannot be sent")
