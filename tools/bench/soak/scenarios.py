"""Random scenarios of orders: shipments in parts, rejections, cancellations, returns and corrections.

Scenarios and traffic have different parties, because the soak damages stored values of the traffic.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.bench.soak.client import ADDRESS, BETWEEN, PartyClient

SKUS = [f"SCENARIO-{number}" for number in range(4)]
STOCK = 40
STEPS = 6
ENDED = ("completed", "canceled")
LONGEST_END = 120.0
"""The most seconds for which a scenario waits for the end of its order."""
REFUSED = (400, 409)
"""The statuses of a refused step. Steps are random, so a refusal is not a fault."""

Answer = Any


@dataclass
class OrderScenario:
    """An order with the units that answers have acknowledged as shipped and as returned, by sku."""

    order_id: int
    shipped: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)


class Scenarios:
    """A retailer and a supplier that take an order to its end in random steps, and check its units."""

    def __init__(self, retailer: PartyClient, supplier: PartyClient, warehouse: int) -> None:
        self.retailer, self.supplier, self.warehouse = retailer, supplier, warehouse
        self.played: list[OrderScenario] = []
        self.steps: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._run = f"{time.time_ns():x}"
        self._verbs: list[Callable[[OrderScenario, int], Answer]] = [
            *(self.accept, self.accept, self.ship_some, self.ship_some, self.ship_rest, self.reject_some),
            *(self.reject_all, self.cancel_some, self.cancel_all, self.approve, self.refuse),
            *(self.take_back, self.correct_parcel, self.change_address, self.count_stock),
        ]

    def prepare(self) -> None:
        self.supplier.create_variants(SKUS)
        self.count_stock()

    def play(self) -> None:
        """Push an order, do random steps, and end the order."""
        skus = random.sample(SKUS, random.randint(1, 3))
        body = {
            "retailer_order_id": self._name("S"),
            "shipping_address": ADDRESS,
            "when_short": random.choice(["ship_partial", "wait"]),
            "order_lines": [{"sku": sku, "quantity": random.randint(1, 4)} for sku in skus],
        }
        scenario = OrderScenario(self.retailer.call("POST", "orders", body)["order_id"])
        for _ in range(STEPS):
            works = self._order(scenario)["fulfillments"]
            verb = random.choice(self._verbs)
            answer = verb(scenario, random.choice(works)["id"]) if works else None
            self.steps[f"{verb.__name__}: {_code(answer)}"] += 1
        self.end(scenario)
        self.played.append(scenario)

    def end(self, scenario: OrderScenario) -> None:
        """Ship or cancel the open units, and approve every cancellation."""
        if random.random() < 0.5:
            for work in self._order(scenario)["fulfillments"]:
                self.ship_rest(scenario, work["id"])
        self.cancel_all(scenario)
        last = time.monotonic() + LONGEST_END
        while (order := self._order(scenario))["processing_state"] not in ENDED and time.monotonic() < last:
            for work in order["fulfillments"]:
                self.approve(scenario, work["id"])
            time.sleep(BETWEEN)

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each scenario whose order differs from its acknowledged units."""
        for scenario in self.played:
            order = self._order(scenario)
            if order["processing_state"] not in ENDED:
                yield f"the scenario of order {scenario.order_id} ended as {order['processing_state']}"
            for line in order["order_lines"]:
                sku = line["sku"]
                for name, units in (("shipped", scenario.shipped), ("returned", scenario.returned)):
                    if line[f"quantity_{name}"] != units[sku]:
                        shown = line[f"quantity_{name}"]
                        yield (
                            f"order {scenario.order_id}, {sku}: {shown} units are {name}, "
                            f"{units[sku]} were acknowledged"
                        )
                done = sum(line[f"quantity_{name}"] for name in ("shipped", "canceled", "rejected"))
                if done != line["quantity"]:
                    yield f"order {scenario.order_id}, {sku}: {done} of {line['quantity']} units have an end"

    # --- The retailer ----------------------------------------------------------------------------

    def cancel_some(self, scenario: OrderScenario, pk: int = 0) -> Answer:
        line = random.choice(self._order(scenario)["order_lines"])
        lines = [{"sku": line["sku"], "quantity": random.randint(1, line["quantity"])}]
        return self._cancel(scenario, {"lines": lines, "cancel_id": self._name("C")})

    def cancel_all(self, scenario: OrderScenario, pk: int = 0) -> Answer:
        return self._cancel(scenario, {"reason": "changed their mind"})

    def _cancel(self, scenario: OrderScenario, body: Any) -> Answer:
        return self.retailer.call("POST", f"orders/{scenario.order_id}/cancel", body, known=REFUSED)

    def change_address(self, scenario: OrderScenario, pk: int) -> Answer:
        body = {"shipping_address": {**ADDRESS, "city": self._name("Town")}}
        return self.retailer.call("PATCH", f"orders/{scenario.order_id}", body, known=REFUSED)

    # --- The supplier ----------------------------------------------------------------------------

    def accept(self, scenario: OrderScenario, pk: int) -> Answer:
        return self._put(pk, "/accepted")

    def approve(self, scenario: OrderScenario, pk: int) -> Answer:
        return self._put(pk, "", {"status": "canceled"})

    def refuse(self, scenario: OrderScenario, pk: int) -> Answer:
        return self._put(pk, "", {"status": "cancelation not allowed"})

    def reject_all(self, scenario: OrderScenario, pk: int) -> Answer:
        return self._put(pk, "/out_of_stock")

    def _put(self, pk: int, status: str, body: Any = None) -> Answer:
        return self.supplier.call("PUT", f"fulfillments/{pk}/setStatus{status}", body, known=REFUSED)

    def ship_some(self, scenario: OrderScenario, pk: int) -> Answer:
        """Ship some units of one line."""
        lines = [line for line in self._work(pk)["lines"] if line["quantity_open"]]
        return self._ship(scenario, pk, random.sample(lines, min(1, len(lines))), all_units=False)

    def ship_rest(self, scenario: OrderScenario, pk: int) -> Answer:
        """Ship all open units in one parcel."""
        lines = [line for line in self._work(pk)["lines"] if line["quantity_open"]]
        return self._ship(scenario, pk, lines, all_units=True)

    def _ship(self, scenario: OrderScenario, pk: int, lines: list[Any], *, all_units: bool) -> Answer:
        if not lines:
            return None
        units = {
            line["id"]: line["quantity_open"] if all_units else random.randint(1, line["quantity_open"])
            for line in lines
        }
        parcel = {
            "tracking_number": self._name("T"),
            "lines": [{"id": line, "quantity": quantity} for line, quantity in units.items()],
        }
        self.accept(scenario, pk)
        answer = self._put(pk, "/shipped", parcel)
        if _succeeded(answer):
            for line in lines:
                scenario.shipped[line["sku"]] += units[line["id"]]
        return answer

    def reject_some(self, scenario: OrderScenario, pk: int) -> Answer:
        line = random.choice(self._work(pk)["lines"])
        element = {
            "id": pk,
            "rejectId": self._name("J"),
            "reason": "out_of_stock",
            "items": [{"sku": line["sku"], "quantity": 1}],
        }
        return self.supplier.call("POST", "fulfillments/rejections", [element], known=REFUSED)

    def take_back(self, scenario: OrderScenario, pk: int) -> Answer:
        shipped = [line for line in self._work(pk)["lines"] if line["quantity_shipped"]]
        if not shipped:
            return None
        line = random.choice(shipped)
        lines = [{"sku": line["sku"], "quantity": 1, "restock": random.random() < 0.5}]
        body = {"return_id": self._name("R"), "reason": "too large", "return_lines": lines}
        answer = self.supplier.call("POST", f"fulfillments/{pk}/returns", body, known=REFUSED)
        scenario.returned[line["sku"]] += _succeeded(answer)
        return answer

    def correct_parcel(self, scenario: OrderScenario, pk: int) -> Answer:
        parcels = self._work(pk)["shipments"]
        if not parcels:
            return None
        path = f"fulfillments/{pk}/shipments/{random.choice(parcels)['id']}"
        return self.supplier.call("PATCH", path, {"tracking_number": self._name("T")}, known=REFUSED)

    def count_stock(self, scenario: OrderScenario | None = None, pk: int = 0) -> Answer:
        return self.supplier.count_stock(self.warehouse, SKUS, STOCK)

    def _order(self, scenario: OrderScenario) -> Any:
        return self.retailer.call("GET", f"orders/{scenario.order_id}")

    def _work(self, pk: int) -> Any:
        return self.supplier.call("GET", f"fulfillments/{pk}")

    def _name(self, letter: str) -> str:
        return f"{letter}-{self._run}-{next(self._numbers)}"


def _succeeded(answer: Any) -> bool:
    return bool(answer and answer.get("success"))


def _code(answer: Any) -> str:
    return str(answer.get("code", "done")) if answer else "nothing to do"
