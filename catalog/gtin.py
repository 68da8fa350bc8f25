"""Article numbers: UPC, EAN and GTIN are one scheme with different lengths and the same check digit."""

from __future__ import annotations

import re

DIGITS = re.compile(r"[0-9]+")
UPC, EAN, GTIN = (12,), (8, 13), (8, 12, 13, 14)
LENGTHS = {"upc": UPC, "ean": EAN, "gtin": GTIN}
"""The possible lengths of the number in each field of a variant."""


def check_digit(digits: str) -> str:
    """Return the check digit of these digits: weights 3, 1, 3, … from the right."""
    weighted = sum(int(digit) * (1 if position % 2 else 3) for position, digit in enumerate(reversed(digits)))
    return str(-weighted % 10)


def twin_of(gtin: str) -> str | None:
    """Return the field with the same number: `upc` for a GTIN of 12 digits, `ean` for 8 or 13 digits."""
    return {12: "upc", 8: "ean", 13: "ean"}.get(len(gtin))


def error_in(number: str, lengths: tuple[int, ...]) -> str | None:
    """Return the error in an article number that must have one of these lengths; None if it is valid."""
    expected = " or ".join(str(length) for length in lengths)
    if not DIGITS.fullmatch(number) or len(number) not in lengths:
        return f"Must have {expected} digits."
    digit = check_digit(number[:-1])
    if number[-1] != digit:
        return f"The check digit is wrong: after {number[:-1]} comes {digit}, not {number[-1]}."
    return None
