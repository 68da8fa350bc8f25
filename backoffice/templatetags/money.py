"""Template filters for amounts."""

from __future__ import annotations

from decimal import Decimal

from django import template

from api.amounts import amount_text, digits_of

register = template.Library()


@register.filter
def money(amount: Decimal | int | None, currency: str = "") -> str:
    """Format an amount with its currency and cents. None becomes an empty text.

    Integers are counts, not money: they get no cents.
    """
    if isinstance(amount, Decimal):
        return amount_text(amount, currency)
    return "" if amount is None else f"{amount:,}"


@register.filter
def digits(amount: Decimal | None, currency: str) -> str:
    """Format an amount with the decimals of its currency, for a list that names the currency elsewhere."""
    return "" if amount is None else digits_of(amount, currency, thousands=",")
