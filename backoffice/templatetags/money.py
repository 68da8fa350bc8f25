"""Template filters for amounts."""

from __future__ import annotations

from decimal import Decimal

from django import template

from api.renderers import number

register = template.Library()


@register.filter
def money(amount: Decimal | int | None) -> str:
    """Format an amount with cents, with more digits where the amount has more, and None as an empty text.

    Integers are counts, not money: they get no cents.
    """
    if not isinstance(amount, Decimal):
        return "" if amount is None else f"{amount:,}"
    plain = number(amount)
    return f"{plain:,.2f}" if plain == round(plain, 2) else f"{plain:,}"
