"""The formats of tracking numbers, as the data set describes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from fulfillments.tracking.check_digits import ALGORITHMS

DATA = Path(__file__).with_name("formats.json")


@dataclass(frozen=True)
class TrackingFormat:
    """A format of a carrier's tracking numbers."""

    carrier: str
    pattern: re.Pattern[str]
    url: str = ""
    check: Mapping[str, Any] = field(default_factory=dict)
    prefix: tuple[re.Pattern[str], str] | None = None
    """A pattern and a prefix: the check adds the prefix to a serial number that matches the pattern."""
    couriers: Mapping[str, str] = field(default_factory=dict)
    """The postal service by country code, for international numbers."""
    is_vague: bool = False
    """Any number of this length fits: the format has neither a check digit nor a fixed letter."""

    def is_right(self, match: re.Match[str]) -> bool:
        """Return whether the check digit of a matching number, and its country, are right."""
        if self.couriers and match["CountryCode"] not in self.couriers:
            return False
        if not self.check:
            return True
        serial = match["SerialNumber"]
        if self.prefix and self.prefix[0].match(serial):
            serial = self.prefix[1] + serial
        try:
            return ALGORITHMS[self.check["name"]](serial, self.check) == match["CheckDigit"]
        except ValueError:  # a letter where the algorithm needs a digit
            return False

    def carrier_of(self, match: re.Match[str]) -> str:
        """Return the carrier of a matching number, or an empty text if its country is unknown."""
        return self.couriers.get(match["CountryCode"], "") if self.couriers else self.carrier


def _format(row: Mapping[str, Any]) -> TrackingFormat:
    prefix, pattern = row.get("prefix"), re.compile(row["pattern"])
    return TrackingFormat(
        carrier=row["carrier"],
        pattern=pattern,
        url=row.get("url", ""),
        check=row.get("check", {}),
        prefix=(re.compile(prefix[0]), prefix[1]) if prefix else None,
        couriers=row.get("couriers", {}),
        is_vague="check" not in row and not _has_fixed_letter(pattern, row["valid"]),
    )


def _has_fixed_letter(pattern: re.Pattern[str], valid: Sequence[str]) -> bool:
    """Return whether the pattern has a position that allows only certain letters.

    This is true if a valid number no longer matches after one of its letters is replaced.
    """
    numbers = (re.sub(r"\s", "", number).upper() for number in valid)
    return any(
        not pattern.fullmatch(number[: match.start()] + letter + number[match.end() :])
        for number in numbers
        for match in re.finditer("[A-Z]", number)
        for letter in ascii_uppercase
    )


def read_formats(data: Mapping[str, Any]) -> list[TrackingFormat]:
    return [_format(row) for row in data["formats"]]


FORMATS = read_formats(json.loads(DATA.read_text()))
