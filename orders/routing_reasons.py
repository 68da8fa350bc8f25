"""The data of an order's routing decisions for pages: the candidates, and why each was chosen or not."""

from __future__ import annotations

from accounts.models import Supplier
from fulfillments.allocating_arrivals import ARRIVED
from fulfillments.planning.explaining import price_of
from fulfillments.simulating.running import PUSHED
from inventory.models import Warehouse
from orders.models import Order
from orders.suspended import suspended_then

CAUSES = {
    PUSHED: "Order received",
    "refused": "Refused by a supplier",
    "reassigned": "Reassigned",
    ARRIVED: "Stock arrived",
}


def explained_decisions(order: Order, positions: dict[int, int]) -> list[dict[str, object]]:
    """Return the routing decisions on the lines in `positions`, with suppliers, warehouses and prices.

    `positions` has the positions of the lines by line id.
    """
    decisions = list(order.routing_decisions.order_by("id"))
    for each in decisions:
        each.lines = [line for line in each.lines if line["line_id"] in positions]
    decisions = [each for each in decisions if each.lines]
    candidates = [one for each in decisions for line in each.lines for one in line["candidates"]]
    suppliers = Supplier.objects.in_bulk({one["supplier_id"] for one in candidates})
    warehouses = Warehouse.objects.in_bulk({one["warehouse_id"] for one in candidates if one["warehouse_id"]})
    suspended = suspended_then(order, decisions)
    return [
        {
            "cause": CAUSES.get(decision.cause, decision.cause),
            "decided_at": decision.decided_at,
            "lines": [
                {
                    **line,
                    "position": positions[line["line_id"]],
                    "suspended": suspended.get((decision.pk, line["line_id"]), ()),
                    "candidates": [
                        {
                            **one,
                            "supplier": suppliers.get(one["supplier_id"]),
                            "warehouse": warehouses.get(one["warehouse_id"]),
                            "price": price_of(one),
                        }
                        for one in line["candidates"]
                    ],
                }
                for line in decision.lines
            ],
        }
        for decision in decisions
    ]
