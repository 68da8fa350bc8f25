"""The earlier rejections of an order line, which routing takes into account until they end (contract 17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, NamedTuple

from django.db.models import F, OuterRef, Subquery

from fastdb.rows import as_rows
from fulfillments.models import FulfillmentLine, Rejection
from fulfillments.planning.routing import WarehouseKey
from fulfillments.states import REFUSALS, Excluded, Refusal
from inventory.models import StockLevel


@dataclass
class Refusals:
    """The warehouses and suppliers that routing does not ask again for a line.

    `warehouses` rejected the line as out of stock. `suppliers` rejected the line as a missing sku, or an
    operator reassigned the units of these suppliers. `for_address` is the number of units that were rejected
    because of a wrong address.
    """

    warehouses: set[WarehouseKey] = field(default_factory=set)
    suppliers: set[int] = field(default_factory=set)
    for_address: int = 0


class RefusedLine(NamedTuple):
    """A fulfillment line with rejected units.

    A later count above zero (`stocked_at`) or a later listing of the variant (`listed_since`) can end the
    rejection.
    """

    id: int
    order_line_id: int
    fulfillment_id: int
    supplier_id: Annotated[int, F("fulfillment__supplier_id")]
    warehouse_id: Annotated[int, F("fulfillment__warehouse_id")]
    listed: Annotated[bool, F("variant__listed")]
    listed_since: Annotated[datetime | None, F("variant__listed_since")]
    stocked_at: datetime | None


def refusals_of(line_ids: Iterable[int]) -> defaultdict[int, Refusals]:
    """Return the rejections that are in force, by order line id. Makes two queries."""
    refusals: defaultdict[int, Refusals] = defaultdict(Refusals)
    stock = StockLevel.objects.filter(
        variant_id=OuterRef("variant_id"), warehouse_id=OuterRef("fulfillment__warehouse_id")
    )
    refused = FulfillmentLine.objects.filter(order_line_id__in=list(line_ids), rejected__gt=0).order_by()
    rows = as_rows(refused.annotate(stocked_at=Subquery(stock.values("stocked_at")[:1])), RefusedLine)
    lines = {line.id: line for line in rows}
    fulfillments = {line.fulfillment_id for line in lines.values()}
    for rejection in Rejection.objects.filter(fulfillment_id__in=fulfillments, ended_at=None):
        refusal = REFUSALS[rejection.reason]
        for item in rejection.items:
            line = lines.get(item["line"])
            if line is None or _has_ended(refusal, line, rejection.rejected_at):
                continue
            of_line = refusals[line.order_line_id]
            if refusal.excludes is Excluded.WAREHOUSE:
                of_line.warehouses.add((line.supplier_id, line.warehouse_id))
            elif refusal.excludes is Excluded.SUPPLIER:
                of_line.suppliers.add(line.supplier_id)
            if refusal.waits_for_address:
                of_line.for_address += item["quantity"]
    return refusals


def _has_ended(refusal: Refusal, line: RefusedLine, rejected_at: datetime) -> bool:
    """Return whether a later count above zero, or a later listing of the variant, has ended the refusal."""
    if refusal.empties_stock:
        return line.stocked_at is not None and line.stocked_at > rejected_at
    if refusal.delists:
        return line.listed and line.listed_since is not None and line.listed_since > rejected_at
    return False
