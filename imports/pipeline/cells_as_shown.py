"""The text of a workbook's cell as a spreadsheet program shows it, with the leading zeros of its format.

Numbers and dates do not follow the program's country, because the file does not name the country: numbers
have a decimal point and no thousands separators, and dates are ISO 8601.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

# A part of a number format: a quoted or escaped text, a hidden part, or a character. Hidden are
# `[color, condition or country]`, `_` with the character whose width stays blank, and `*` with the character
# that fills the cell.
PART = re.compile(r'"([^"]*)"|\\(.)|\[[^\]]*\]|_.|\*.|(.)', re.DOTALL)
# All digits of a format, with the texts between them.
DIGITS = re.compile(r"\.?[0#?](?:.*[0#?])?\.?,*", re.DOTALL)
PLACES = "0#?"
# A format may have many more decimals than the default context allows.
ROUNDING = Context(prec=1_000, rounding=ROUND_HALF_UP)
TEXT = "\0"
FIRST_ROUNDED = 10**15
"""The smallest number with 16 digits. Spreadsheet programs replace the digits after the 15th by zeros."""
LAST_EXACT = 2**53
"""A number of 16 digits. Programs that calculate with floats keep all whole numbers up to it."""
ESCAPED = re.compile("_x(?!D[89A-F])([0-9A-F]{4})_", re.IGNORECASE)
"""A character that XML cannot hold or would change, such as `_x000D_` for a carriage return."""


class LostResult(str):
    """The text of a formula without a stored result: a lost character, so that no import accepts it."""

    __slots__ = ()


LOST_RESULT = LostResult("\ufffd")


def as_shown(cell: Any) -> str:
    """Return the text of a cell; empty for an empty cell."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, LostResult):
        return value
    if isinstance(value, str):
        return ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return number_as_shown(value, str(cell.number_format or "General"))
    if isinstance(value, datetime):
        whole_day = value.time() == time()
        return value.date().isoformat() if whole_day else value.isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def number_as_shown(value: float, number_format: str) -> str:
    """Return a number as text in a number format such as `00000`, `0.00` or `"SKU-"0000`."""
    if abs(value) >= FIRST_ROUNDED:
        return str(value) if _is_exact(value) else _rounded(value)
    shown, code = _parts(number_format)
    digits = DIGITS.search(code)
    if digits is None or re.search(r"[eE][+-]|/", code) or digits[0].endswith(","):
        return _plainly(value)
    whole, _, fraction = digits[0].partition(".")
    exact = Decimal(repr(value)) * (100 if "%" in code else 1)
    step = Decimal(1).scaleb(-sum(map(PLACES.__contains__, fraction)))
    number, _, decimals = f"{exact.copy_abs().quantize(step, context=ROUNDING):f}".partition(".")
    kept = fraction.count("0")
    decimals = decimals[:kept] + decimals[kept:].rstrip("0")
    point = "." if decimals else ""
    sign = "-" if exact < 0 and (number + decimals).strip("0") else ""
    zeros = whole.count("0")
    number = number.zfill(zeros)
    if zeros > 1:  # the number is an identifier, and the text around and between the digits is part of it
        before, between, after = shown[: digits.start()], shown[digits.start() :], shown[digits.end() :]
        return before + sign + _filled(number, whole, between) + point + decimals + after
    return f"{sign}{number}{point}{decimals}{'%' if '%' in code else ''}"


def _is_exact(value: float) -> bool:
    """Tell whether a number of 16 digits kept its last digit, because no spreadsheet program wrote it."""
    return isinstance(value, int) and abs(value) <= LAST_EXACT and value % 10 != 0


@lru_cache(maxsize=256)  # most cells share a few formats
def _parts(number_format: str) -> tuple[str, str]:
    """Return the visible characters of a format, and a copy in which TEXT replaces each literal character."""
    shown = code = ""
    for part in PART.finditer(number_format):
        quoted, escaped, character = part.groups(default="")
        if character == ";":  # the format of negative numbers follows
            break
        shown += quoted + escaped + character
        code += TEXT * len(quoted + escaped) + character
    return shown, code


def _filled(number: str, code: str, shown: str) -> str:
    """Put the digits into the places of a format, from the right. The first place takes all other digits."""
    filled, first = "", min(map(code.find, set(PLACES) & set(code)))
    for at in range(len(code) - 1, -1, -1):
        if code[at] in PLACES:
            taken = number if at == first else number[-1:]
            number = number[: len(number) - len(taken)]
            filled = taken + filled
        elif code[at] != ",":  # a comma only groups digits
            filled = shown[at] + filled
    return filled


def _rounded(value: float) -> str:
    """Return a number as spreadsheet programs show a long number, such as `1.23456789012346E+18`.

    Zeros instead of the lost digits would look like another sku. A key with an exponent is refused.
    """
    digits = Decimal(f"{Decimal(value):.14E}")
    return f"{digits.normalize():E}" if digits.is_finite() else str(digits)


def _plainly(value: float) -> str:
    """Return all digits that a sheet stores for a number, at most fifteen, without an exponent."""
    return f"{Decimal(format(value, '.15g')):f}" if isinstance(value, float) else str(value)
