"""Routing plans, compared with an exhaustive search: most units, fewest fulfillments, lowest cost."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from fulfillments.planning.explaining import MOST_SHOWN, explain
from fulfillments.planning.routing import Candidate, Plan, Want, plan
from fulfillments.planning.routing.problem import Problem
from fulfillments.planning.routing.search import Search
from inventory.reservations import StockKey
from tools.bench.random_markets import ANY_TERMS, NOTHING_AGREED, best_worth, random_market, worth


def stock_of(*rows: tuple[int, int, int]) -> dict[StockKey, int]:
    """Return the stock of rows `(variant, warehouse, units)`."""
    return {(variant, warehouse): units for variant, warehouse, units in rows}


def a_candidate(variant_id: int, supplier_id: int, cost: str = "1", **fields: object) -> Candidate:
    """Return a candidate whose default warehouse has ten times the supplier's number."""
    values: dict[str, object] = {"priority": 100, "default_warehouse_id": 10 * supplier_id, **fields}
    values |= {"agreed": NOTHING_AGREED}
    return Candidate(variant_id, supplier_id, ANY_TERMS, Decimal(cost), **values)  # type: ignore[arg-type]


def placed(plan: Plan) -> list[tuple[int, int, int, int]]:
    """Return a plan's allocations as sorted tuples `(line, variant, warehouse, quantity)`."""
    return sorted((each.line, *each.stock_key, each.quantity) for each in plan.allocations)


@pytest.mark.parametrize("seed", range(60))
def test_a_plan_is_as_good_as_the_best_of_all_plans(seed):
    chance = Random(seed)
    market = random_market(
        chance,
        lines=chance.randint(1, 4),
        suppliers=chance.randint(2, 4),
        warehouses=chance.randint(1, 2),
        units=chance.randint(1, 3),
        ample=chance.random() < 0.5,
    )

    found = plan(market.wants, market.available, allow_short=False)

    assert worth(market, found) == best_worth(market)


def test_the_same_order_at_the_same_stock_gets_the_same_plan():
    market = random_market(Random(3), lines=20, suppliers=20, warehouses=2, units=5)

    first, again = (plan(market.wants, market.available, allow_short=True) for _ in range(2))

    assert first == again


def test_a_search_that_stops_early_has_a_plan_that_fills_as_much():
    market = random_market(Random(5), lines=20, suppliers=20, warehouses=2, units=5)
    problem = Problem(market.wants, market.available)
    search = Search(problem, most_work=1)

    warehouses = search.run()

    assert search.exhausted
    assert all(missing <= 0 for missing in search.missing(warehouses))


def test_stock_wanted_by_several_lines_is_promised_once():
    lamp = a_candidate(1, 1)

    found = plan([Want(line, 2, (lamp,)) for line in range(3)], stock_of((1, 10, 3)), allow_short=False)

    assert sum(each.reserved for each in found.allocations) == 3
    assert sum(found.unfilled.values()) == 3


def test_a_line_leaves_stock_to_a_line_without_another_source():
    lamp, lantern = a_candidate(1, 1, "1"), a_candidate(2, 1, "2")
    wants = [Want(0, 1, (lamp, lantern)), Want(1, 1, (lamp,))]

    found = plan(wants, stock_of((1, 10, 1), (2, 10, 1)), allow_short=False)

    assert placed(found) == [(0, 2, 10, 1), (1, 1, 10, 1)]


def test_units_come_from_the_cheaper_of_the_chosen_warehouses():
    cheap, dear, other = a_candidate(1, 1, "1"), a_candidate(2, 2, "9"), a_candidate(3, 2)
    wants = [Want(0, 4, (cheap, dear)), Want(1, 1, (other,))]

    found = plan(wants, stock_of((1, 10, 3), (2, 20, 9), (3, 20, 1)), allow_short=False)

    # One warehouse has all units, and fewer fulfillments matter more than a lower cost.
    assert placed(found) == [(0, 2, 20, 4), (1, 3, 20, 1)]

    found = plan(wants, stock_of((1, 10, 3), (2, 20, 3), (3, 20, 1)), allow_short=False)

    assert placed(found) == [(0, 1, 10, 3), (0, 2, 20, 1), (1, 3, 20, 1)]


def test_a_warehouse_with_a_fulfillment_is_preferred_to_a_cheaper_warehouse():
    wants = [Want(0, 1, (a_candidate(1, 1, "1"), a_candidate(2, 2, "5")))]
    stock = stock_of((1, 10, 1), (2, 20, 1))

    assert placed(plan(wants, stock, allow_short=False, joining={(2, 20)})) == [(0, 2, 20, 1)]
    assert placed(plan(wants, stock, allow_short=False)) == [(0, 1, 10, 1)]


def test_a_warehouse_that_refused_a_line_is_left_out_but_not_its_supplier():
    lamp = a_candidate(1, 1)
    wants = [Want(0, 1, (lamp,), refused_warehouses=frozenset({(1, 10)}))]

    assert placed(plan(wants, stock_of((1, 10, 5), (1, 11, 5)), allow_short=False)) == [(0, 1, 11, 1)]
    assert plan(wants, stock_of((1, 10, 5)), allow_short=False).unfilled == {0: 1}


def test_short_units_go_to_a_chosen_warehouse():
    lamp, mat, cheap_mat = a_candidate(1, 1), a_candidate(2, 1, "9"), a_candidate(3, 2, "1")
    wants = [Want(0, 1, (lamp,)), Want(1, 2, (mat, cheap_mat))]

    found = plan(wants, stock_of((1, 11, 1)), allow_short=True)

    assert placed(found) == [(0, 1, 11, 1), (1, 2, 11, 2)]
    assert [each.reserved for each in found.allocations] == [1, 0]


def test_without_stock_short_units_go_to_the_cheapest_supplier():
    refusing = a_candidate(1, 1, "1", takes_short=False)
    wants = [Want(0, 2, (refusing, a_candidate(2, 2, "3"), a_candidate(3, 3, "4")))]

    assert placed(plan(wants, {}, allow_short=True)) == [(0, 2, 20, 2)]


def test_an_explanation_shows_the_chosen_suppliers_and_counts_the_others():
    candidates = tuple(a_candidate(each, each, cost=f"{each}") for each in range(1, 41))
    stock = stock_of(*((each, 10 * each, 5) for each in range(1, 41)))
    wants = [Want(0, 2, candidates)]

    [decision] = explain(wants, plan(wants, stock, allow_short=True), stock)

    assert len(decision["candidates"]) == MOST_SHOWN
    assert decision["not_shown"] == 40 - MOST_SHOWN
    assert decision["candidates"][0]["reason"] == "Chosen for 2 of 2, all in stock."
    assert decision["candidates"][1]["reason"] == "Not chosen: costs 2, the chosen one 1."


def test_an_explanation_of_a_thousand_lines_stays_short():
    market = random_market(Random(8), lines=1000, suppliers=5, warehouses=1, units=2, competing=0)
    found = plan(market.wants, market.available, allow_short=True)

    lines = explain(market.wants, found, market.available)

    assert len(lines) == 1000
    assert sum(len(line["candidates"]) for line in lines) <= 2 * 1000 + len(found.allocations)
    chosen = [each for line in lines for each in line["candidates"] if each["quantity"]]
    assert sum((Decimal(each["quantity"]) for each in chosen), Decimal(0)) == sum(
        each.quantity for each in found.allocations
    )
