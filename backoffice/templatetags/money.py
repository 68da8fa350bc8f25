"""Amounts on operators' pages."""

from __future__ import annotations

from decimal import Decimal

from django import template

from api.renderers import number

register = template.Library()


@register.filter
def money(amount: Decimal | None) -> str:
    """An amount exactly, without the zeros that its column padded it with; nothing where there is none."""
    return "" if amount is None else str(number(amount))
