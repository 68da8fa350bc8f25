"""Formatting of amounts for people."""

from __future__ import annotations

from decimal import Decimal

from api.currencies import decimals_of
from api.renderers import number

NO_AMOUNT = Decimal(-1)
"""The sort key of a record without amounts: it sorts below all amounts."""


def amount_text(amount: Decimal, currency: str = "") -> str:
    """Format an amount with its currency, and with commas between the thousands."""
    digits = digits_of(amount, currency, thousands=",")
    return f"{digits}\u00a0{currency}" if currency else digits


def digits_of(amount: Decimal, currency: str = "", *, thousands: str = "") -> str:
    """Format an amount with the decimals of its currency, or with all its decimals if it has more."""
    plain, decimals = number(amount), decimals_of(currency)
    return f"{plain:{thousands}.{decimals}f}" if plain == round(plain, decimals) else f"{plain:{thousands}}"
