"""Amounts on operators' pages."""

from __future__ import annotations

from decimal import Decimal

from django import template

from api.renderers import number

register = template.Library()


@register.filter
def money(amount: Decimal | int | None) -> str:
    """An amount exactly: to the cent, and further where it goes further; nothing where there is none.

    Whole numbers that are no money (a table may have both) have no cents.
    """
    if not isinstance(amount, Decimal):
        return "" if amount is None else f"{amount:,}"
    plain = number(amount)
    return f"{plain:,.2f}" if plain == round(plain, 2) else f"{plain:,}"
