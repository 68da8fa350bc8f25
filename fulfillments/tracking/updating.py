"""The creation of `formats.json` from a copy of the data set: one small file replaces many large files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fulfillments.tracking.check_digits import ALGORITHMS
from fulfillments.tracking.formats import read_formats

SOURCE = "https://github.com/jkeen/tracking_number_data"
NAMES = {
    "fedex": "FedEx",
    "old_dominion": "Old Dominion",
    "landmark": "Landmark Global",
    "speedee": "Spee-Dee",
    "ups": "UPS",
    "usps": "USPS",
}
"""The short names of some carriers, by code. Other carriers keep their name in the data set."""
NO_CHECK = "dummy"


class WrongDataSet(Exception):
    """The error for a copy of the data set that cannot be used. The message has the reason."""


def compact(folder: Path, version: str) -> dict[str, Any]:
    """Return the formats of the data set's `couriers/*.json`. Raises WrongDataSet."""
    files = sorted((folder / "couriers").glob("*.json"))
    if not files:
        raise WrongDataSet(f"{folder} has no couriers/*.json. Name the folder of the data set.")
    couriers = [json.loads(path.read_text()) for path in files]
    data = {
        "source": SOURCE,
        "version": version,
        "license": "MIT",
        "formats": [row for courier in couriers for row in _formats(courier)],
    }
    _prove(data)
    return data


def _formats(courier: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for each in courier["tracking_numbers"]:
        pattern = each["regex"] if isinstance(each["regex"], str) else "".join(each["regex"])
        tests = each["test_numbers"]
        row: dict[str, object] = {
            "carrier": NAMES.get(courier["courier_code"], courier["name"]),
            "format": each["name"],
            # Numbers are compared without blanks, so remove the blanks from the pattern.
            "pattern": pattern.replace("(?<", "(?P<").replace("\\s*", ""),
        }
        validation = each.get("validation") or {}
        check = validation.get("checksum") or {}
        if check.get("name", NO_CHECK) != NO_CHECK:
            row["check"] = check
        if prefix := validation.get("serial_number_format", {}).get("prepend_if"):
            row["prefix"] = [prefix["matches_regex"], prefix["content"]]
        if each.get("tracking_url"):
            row["url"] = each["tracking_url"]
        if "Courier" in validation.get("additional", {}).get("exists", ()):
            row["couriers"] = _couriers(each)
        yield {**row, "valid": tests["valid"], "invalid": tests["invalid"]}


def _couriers(each: Mapping[str, Any]) -> dict[str, str]:
    [lookup] = [more["lookup"] for more in each["additional"] if more["name"] == "Courier"]
    usps = "United States Postal Service"
    return {row["matches"]: NAMES["usps"] if row["courier"] == usps else row["courier"] for row in lookup}


def _prove(data: Mapping[str, Any]) -> None:
    """Raise WrongDataSet for an unknown algorithm, or for a test number with another result than expected."""
    for row in data["formats"]:
        if row.get("check", {}).get("name", "mod7") not in ALGORITHMS:
            raise WrongDataSet(f"{row['format']} has the unknown check digit {row['check']['name']}.")
    wrong = list(wrongly_recognized(data))
    if wrong:
        raise WrongDataSet(f"{len(wrong)} test numbers are not recognized as the data set says: {wrong[:5]}.")


def wrongly_recognized(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield each valid test number that its format refuses, and each invalid number that it accepts."""
    for row, each in zip(data["formats"], read_formats(data), strict=True):
        for number, is_valid in [*((n, True) for n in row["valid"]), *((n, False) for n in row["invalid"])]:
            match = each.pattern.fullmatch(re.sub(r"\s", "", number).upper())
            if bool(match and each.is_right(match)) is not is_valid:
                yield f"{row['format']}: {number}"
