"""Who is not asked for a line again, and what of it was refused for its address alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from fulfillments.models import FulfillmentLine, Rejection
from fulfillments.planning.routing import Place
from fulfillments.states import WITHDRAWN, State


@dataclass
class Refusals:
    """The places that were out of stock; the suppliers without the sku, or that operators took it from; the
    pieces with a wrong address.
    """

    places: set[Place] = field(default_factory=set)
    suppliers: set[int] = field(default_factory=set)
    for_address: int = 0


def refusals_of(line_ids: Iterable[int]) -> defaultdict[int, Refusals]:
    """By the id of an order's line, what has been refused of it so far. Two queries."""
    refused: defaultdict[int, Refusals] = defaultdict(Refusals)
    lines = FulfillmentLine.objects.filter(order_line_id__in=list(line_ids), rejected__gt=0)
    lines = lines.select_related("fulfillment")
    fulfillments = {line.fulfillment_id: line.fulfillment for line in lines}
    order_lines = {line.pk: line.order_line_id for line in lines}
    for rejection in Rejection.objects.filter(fulfillment_id__in=fulfillments):
        fulfillment = fulfillments[rejection.fulfillment_id]
        for item in rejection.items:
            if item["line"] not in order_lines:
                continue
            of_line = refused[order_lines[item["line"]]]
            if rejection.reason == State.OUT_OF_STOCK:
                of_line.places.add((fulfillment.supplier_id, fulfillment.warehouse_id))
            elif rejection.reason in (State.MISSING_SKU, WITHDRAWN):
                of_line.suppliers.add(fulfillment.supplier_id)
            else:
                of_line.for_address += item["quantity"]
    return refused
