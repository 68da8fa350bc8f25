"""Formatting of amounts for people."""

from __future__ import annotations

from decimal import Decimal

from api.currencies import without_fraction
from api.renderers import number

NO_AMOUNT = Decimal(-1)
"""The sort key of a record without amounts: it sorts below all amounts."""


def amount_text(amount: Decimal, currency: str = "") -> str:
    """Format an amount with its currency.

    Show two decimals, or no decimals in a currency without a fraction. If the amount has more decimals, show
    all of them.
    """
    plain = number(amount)
    cents = 0 if without_fraction(currency) else 2
    digits = f"{plain:,.{cents}f}" if plain == round(plain, cents) else f"{plain:,}"
    return f"{digits}\u00a0{currency}" if currency else digits
