"""Plans against brute force: nothing is promised twice, and no smaller set of sources would have done."""

from __future__ import annotations

import time
from decimal import Decimal
from itertools import combinations
from random import Random

import pytest

from accounts.models import Partnership
from fulfillments.routing import Candidate, Want, plan
from inventory.reservations import Ledger, Level, Place


def a_market(chance: Random, lines: int, sources: int, pieces: int) -> tuple[list[Want], dict[Place, Level]]:
    """Each line's goods at about half of the sources, each a supplier with one warehouse."""
    levels: dict[Place, Level] = {}
    wants = []
    for line in range(lines):
        candidates = []
        for source in range(1, sources + 1):
            variant, cost = 100 * line + source, Decimal(chance.randint(1, 5))
            candidates.append(Candidate(variant, source, Partnership(), cost, 100, source))
            if chance.random() < 0.5:
                levels[variant, source] = Level(
                    source, on_hand=chance.randint(1, pieces), reserved=0, safety=0
                )
        wants.append(Want(line, chance.randint(1, pieces), tuple(candidates)))
    return wants, levels


def fillable(wants: list[Want], levels: dict[Place, Level], sources: tuple[int, ...]) -> int:
    """How many pieces these sources could fill: no two lines here want the same goods."""
    here = [
        (
            want.quantity,
            [
                levels[each.variant_id, each.supplier_id].on_hand
                for each in want.candidates
                if each.supplier_id in sources and (each.variant_id, each.supplier_id) in levels
            ],
        )
        for want in wants
    ]
    return sum(min(quantity, sum(stock)) for quantity, stock in here)


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_fills_all_that_can_be_from_the_fewest_sources(seed):
    chance = Random(seed)
    sources = tuple(range(1, 6))
    wants, levels = a_market(chance, chance.randint(1, 4), len(sources), pieces=3)
    most = fillable(wants, levels, sources)
    fewest = next(
        size
        for size in range(len(sources) + 1)
        if any(fillable(wants, levels, each) == most for each in combinations(sources, size))
    )

    found = plan(wants, Ledger(levels), allow_short=False)

    assert found.filled == most
    assert len(found.sources) == fewest
    assert all(level.reserved <= level.on_hand for level in levels.values())
    for want in wants:
        taken = sum(part.quantity for part in found.parts if part.line == want.line)
        assert taken + found.unfilled.get(want.line, 0) == want.quantity


def test_what_several_lines_want_is_promised_once():
    lamp = Candidate(1, 1, Partnership(), Decimal(1), 100, 1)
    levels = {(1, 1): Level(1, on_hand=5, reserved=1, safety=1)}

    found = plan([Want(line, 2, (lamp,)) for line in range(3)], Ledger(levels), allow_short=False)

    assert (found.filled, levels[1, 1].reserved) == (3, 4)
    assert sum(found.unfilled.values()) == 3


def test_a_large_order_is_planned_while_its_stock_is_locked():
    """A thousand lines at ten sources: a set that lacks something is given up at its first lack."""
    wants, levels = a_market(Random(8), 1000, 10, pieces=2)
    begun = time.process_time()

    found = plan(wants, Ledger(levels), allow_short=False)

    assert found.filled == fillable(wants, levels, tuple(range(1, 11)))
    assert time.process_time() - begun < 2  # a twentieth of what filling every set to its end takes
