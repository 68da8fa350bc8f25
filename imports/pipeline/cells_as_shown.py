"""The text of a workbook's cell as a spreadsheet program shows it, with the leading zeros of its format.

Numbers and dates do not follow the program's country, because the file does not name the country: numbers
have a decimal point and no thousands separators, and dates are ISO 8601.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

# The parts of a number format without digits: `[color, condition or country]`, `_` with the character whose
# width stays blank, and `*` with the character that fills the cell.
HIDDEN = re.compile(r"\[[^\]]*\]|_.|\*.")
FIRST_ROUNDED = 10**15
"""The smallest number with 16 digits. Spreadsheet programs replace the digits after the 15th by zeros."""
LAST_EXACT = 2**53
"""The largest number, of 16 digits, up to which programs that calculate with floats keep whole numbers."""
ESCAPED = re.compile("_x(?!D[89A-F])([0-9A-F]{4})_", re.IGNORECASE)
"""A character that XML cannot hold or would change, such as `_x000D_` for a carriage return."""
LITERAL = re.compile(r'"([^"]*)"|\\(.)')
DIGITS = re.compile(r"[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+")


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
    shape = HIDDEN.sub("", number_format.split(";")[0])
    bare = LITERAL.sub("", shape)
    digits = DIGITS.search(bare)
    if digits is None or re.search(r"[eE][+-]|/", bare) or digits[0].endswith(","):
        return _plainly(value)
    whole, _, fraction = digits[0].partition(".")
    percent = "%" in bare
    exact = Decimal(repr(value)) * (100 if percent else 1)
    step = Decimal(1).scaleb(-len(fraction))
    text = f"{abs(exact.quantize(step, ROUND_HALF_UP)):f}"
    shown, _, decimals = text.partition(".")
    decimals = decimals[: fraction.count("0")] + decimals[fraction.count("0") :].rstrip("0")
    zeros = whole.count("0")
    text = shown.zfill(zeros) + (f".{decimals}" if decimals else "")
    sign = "-" if exact < 0 and text.strip("0.") else ""
    if zeros > 1:  # the number is an identifier, and the text around the digits is part of it
        before, after = shape.split(_placeholders(shape), 1)
        return _spelt(before) + sign + text + _spelt(after)
    return f"{sign}{text}{'%' if percent else ''}"


def _is_exact(value: float) -> bool:
    """Tell whether a number of 16 digits kept its last digit, because no spreadsheet program wrote it."""
    return isinstance(value, int) and abs(value) <= LAST_EXACT and value % 10 != 0


def _rounded(value: float) -> str:
    """Return a number as spreadsheet programs show a long number, such as `1.23456789012346E+18`.

    Zeros instead of the lost digits would look like another sku. A key with an exponent is refused.
    """
    digits = Decimal(f"{Decimal(value):.14E}")
    return f"{digits.normalize():E}" if digits.is_finite() else str(digits)


def _plainly(value: float) -> str:
    """Return all digits that a sheet stores for a number, at most fifteen, without an exponent."""
    return f"{Decimal(format(value, '.15g')):f}" if isinstance(value, float) else str(value)


def _placeholders(shape: str) -> str:
    """Return the part of a format that stands for digits, outside of quotes."""
    outside = LITERAL.sub(lambda found: "\0" * len(found[0]), shape)
    found = DIGITS.search(outside)
    return shape[found.start() : found.end()] if found else shape


def _spelt(text: str) -> str:
    return LITERAL.sub(lambda found: found[1] if found[1] is not None else found[2], text)
