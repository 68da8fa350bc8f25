"""The earlier rejections of an order line, which routing takes into account."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from fulfillments.models import FulfillmentLine, Rejection
from fulfillments.planning.routing import WarehouseKey
from fulfillments.states import WITHDRAWN, State


@dataclass
class Refusals:
    """The warehouses and suppliers that routing does not ask again for a line.

    `for_address` counts the units of the line with a wrong address.
    """

    warehouses: set[WarehouseKey] = field(default_factory=set)  # were out of stock
    suppliers: set[int] = field(
        default_factory=set
    )  # do not have the sku, or lost the line to a reassignment
    for_address: int = 0


def refusals_of(line_ids: Iterable[int]) -> defaultdict[int, Refusals]:
    """Return the rejections so far, by order line id. Two queries."""
    refusals: defaultdict[int, Refusals] = defaultdict(Refusals)
    lines = FulfillmentLine.objects.filter(order_line_id__in=list(line_ids), rejected__gt=0)
    lines = lines.select_related("fulfillment")
    fulfillments = {line.fulfillment_id: line.fulfillment for line in lines}
    order_lines = {line.pk: line.order_line_id for line in lines}
    for rejection in Rejection.objects.filter(fulfillment_id__in=fulfillments):
        fulfillment = fulfillments[rejection.fulfillment_id]
        for item in rejection.items:
            if item["line"] not in order_lines:
                continue
            of_line = refusals[order_lines[item["line"]]]
            if rejection.reason == State.OUT_OF_STOCK:
                of_line.warehouses.add((fulfillment.supplier_id, fulfillment.warehouse_id))
            elif rejection.reason in (State.MISSING_SKU, WITHDRAWN):
                of_line.suppliers.add(fulfillment.supplier_id)
            else:
                of_line.for_address += item["quantity"]
    return refusals
