"""The active partners of retailers, with the terms that routing and deadlines need."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from django.db.models import F, OuterRef, QuerySet, Subquery

from accounts.models import Partnership
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
    hours_to_capture: int | None
    hours_to_accept: int | None
    hours_to_ship: int | None
    hours_to_answer: int | None
    priority: Annotated[int, F("supplier__priority")]
    default_warehouse_id: Annotated[int | None, F("ships_from")]


@CompiledQuery
def partners_of() -> QuerySet[Partnership, PartnerRow]:
    """Return the active partners of these `retailers`, each with its default or else its oldest warehouse."""
    warehouses = Warehouse.objects.filter(supplier_id=OuterRef("supplier_id")).order_by("-is_default", "id")
    partners = (
        Partnership.objects.trading().filter(any_of("retailer_id", "retailers")).order_by("supplier_id")
    )
    return as_rows(partners.annotate(ships_from=Subquery(warehouses.values("id")[:1])), PartnerRow)
