"""The currency and the amounts of a new order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet

from accounts.models import Retailer
from api.currencies import fraction_errors
from api.errors import Invalid
from fastdb.compiled import CompiledQuery, Param
from fastdb.rows import as_rows
from orders.models import Order, OrderLine


class CurrencyRow(NamedTuple):
    """The default currency of a retailer's orders."""

    currency: str


@CompiledQuery
def _currencies() -> QuerySet[Retailer, CurrencyRow]:
    return as_rows(Retailer.objects.filter(pk=Param("retailer")).order_by(), CurrencyRow)


def currency_of(retailer: Retailer) -> str:
    """Return the retailer's default currency, for orders that do not name a currency."""
    return next(iter(_currencies(retailer=retailer.pk))).currency


def billed_total(lines: Iterable[Mapping[str, Any]]) -> Decimal | None:
    """Return the sum of the pushed lines' billed amounts, or None if no line has a billed amount."""
    billed = [line["billed_amount"] for line in lines if line.get("billed_amount") is not None]
    return sum(billed, Decimal()) if billed else None


def refuse_fractions(order: Order, lines: Sequence[OrderLine]) -> None:
    """Raise Invalid if an amount has a fraction, but the order's currency has no fractions."""
    amounts = {name: getattr(order, name) for name in ("shipping_paid", "shipping_tax")}
    for line in lines:
        amounts |= {
            f"order_lines[{line.position}].{name}": getattr(line, name)
            for name in ("billed_amount", "tax_billed_amount")
        }
    if errors := fraction_errors(order.currency, amounts):
        raise Invalid.of(errors)
