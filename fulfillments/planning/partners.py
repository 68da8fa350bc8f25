"""The active partners of retailers, with the terms that routing and deadlines need."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from accounts.models import Partnership, Suspension
from fastdb.compiled import CompiledQuery, any_of
from fastdb.rows import as_rows
from inventory.models import Warehouse


class PartnerRow(NamedTuple):
    """An active partnership, with the fields that routing and deadlines need."""

    id: int
    retailer_id: int
    supplier_id: int
    refuse_short_orders: bool
    when_short: str
    strict_addresses: bool
    max_wait_days: int | None
    max_units_per_line: int
    hours_to_capture: int | None
    hours_to_accept: int | None
    hours_to_ship: int | None
    hours_to_answer: int | None
    currency: Annotated[str, F("supplier__currency")]
    priority: Annotated[int, F("supplier__priority")]
    default_warehouse_id: Annotated[int | None, F("ships_from")]


@CompiledQuery
def partners_of() -> QuerySet[Partnership, PartnerRow]:
    """Return the trading partners of these `retailers`. New orders are routed to these partners."""
    return _rows(Partnership.objects.trading())


@CompiledQuery
def partners_for_open_orders() -> QuerySet[Partnership, PartnerRow]:
    """Return the partners of these `retailers` that can fill existing orders.

    A suspended retailer pushes no new orders, but its open orders continue. A suspended supplier or
    partnership gets no new work at all.
    """
    of_supplier, of_partnership = Q(supplier=OuterRef("supplier_id")), Q(partnership=OuterRef("pk"))
    stopped = Exists(Suspension.objects.in_force().filter(of_supplier | of_partnership))
    return _rows(Partnership.objects.filter(Q(is_trading=True) | Q(is_active=True) & ~stopped))


FILLS_OPEN_ORDERS = """(a.is_trading OR a.is_active AND NOT EXISTS (
    SELECT FROM accounts_suspension stop WHERE stop.ended_at IS NULL
        AND (stop.supplier_id = a.supplier_id OR stop.partnership_id = a.id)
))"""
"""SQL of the condition in `partners_for_open_orders`. The alias `a` is the partnership."""


def _rows(partnerships: QuerySet[Partnership]) -> QuerySet[Partnership, PartnerRow]:
    """Return the partners, each with the supplier's default warehouse, or else its oldest warehouse."""
    warehouses = Warehouse.objects.filter(supplier_id=OuterRef("supplier_id")).order_by("-is_default", "id")
    partners = partnerships.filter(any_of("retailer_id", "retailers")).order_by("supplier_id")
    return as_rows(partners.annotate(ships_from=Subquery(warehouses.values("id")[:1])), PartnerRow)
