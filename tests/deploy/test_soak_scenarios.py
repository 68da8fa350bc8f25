"""The scenarios of `make soak` report an order whose units differ from the answers to its parties."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tools.bench.soak.scenarios import OrderScenario, Scenarios


class OneOrder:
    """A client that always reads the same order."""

    def __init__(self, state: str, **units: int) -> None:
        line = {"sku": "SCENARIO-0", "quantity": 3, "shipped": 0, "canceled": 0, "rejected": 0, "returned": 0}
        counts = {f"quantity_{name}": count for name, count in (line | units).items() if name != "sku"}
        self.order = {
            "processing_state": state,
            "order_lines": [{"sku": "SCENARIO-0", "quantity": 3, **counts}],
        }

    def call(self, *request: Any, **options: Any) -> Any:
        return self.order


def faults(state: str, acknowledged: int, **units: int) -> list[str]:
    """Return the faults of one scenario, whose answers acknowledged this many units as shipped."""
    client: Any = OneOrder(state, **units)
    scenarios = Scenarios(client, client, 1)
    scenarios.played.append(OrderScenario(7, shipped=Counter({"SCENARIO-0": acknowledged})))
    return [*scenarios.faults()]


def test_a_scenario_whose_units_agree_has_no_fault():
    assert faults("completed", 2, shipped=2, canceled=1) == []
    assert faults("canceled", 0, canceled=3) == []


def test_a_lost_or_doubled_unit_is_reported():
    assert faults("completed", 1, shipped=2, canceled=1) == [
        "order 7, SCENARIO-0: 2 units are shipped, 1 were acknowledged"
    ]
    assert faults("completed", 0, returned=1, canceled=3) == [
        "order 7, SCENARIO-0: 1 units are returned, 0 were acknowledged"
    ]


def test_a_scenario_without_an_end_is_reported():
    assert faults("processing", 2, shipped=2) == [
        "the scenario of order 7 ended as processing",
        "order 7, SCENARIO-0: 2 of 3 units have an end",
    ]
