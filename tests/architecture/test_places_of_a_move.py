"""The places that docs/architecture.md lists for a new move are the places of the existing moves."""

from __future__ import annotations

import re

from accounts.actors import ActorKind
from fulfillments import states
from tests.architecture.sources import ROOT, text_of

MOVES = {name: move for name, move in vars(states).items() if isinstance(move, states.Move)}
# Orders' actions make these moves, because they follow from a corrected address and a canceled order.
OF_ORDERS = {"CORRECT_ADDRESS", "CANCEL_UNCAPTURED"}


def places() -> list[str]:
    """Return the first file that each numbered place names."""
    section = text_of("docs/architecture.md").partition("## How to add a move of a fulfillment")[2]
    steps = re.findall(r"^\d\. .*$", section.partition("\n## ")[0], re.MULTILINE)
    return [re.findall(r"`([\w/.-]+\.(?:py|md))`", step)[0] for step in steps]


def test_a_move_has_nine_places_that_exist():
    assert len(places()) == 9
    assert [place for place in places() if not (ROOT / place).is_file()] == []


def test_every_move_is_in_the_table():
    assert {*MOVES.values()} == {*states.MOVES}


def test_every_move_has_a_method():
    text = text_of("fulfillments/models/fulfillment.py") + text_of("fulfillments/models/cancelable.py")
    reached = {name for name in MOVES if f"states.{name})" in text}
    reached |= {name for name, move in MOVES.items() if move in states.REJECTIONS.values()}
    assert reached == {*MOVES}


def test_every_move_of_operators_has_an_action():
    text = text_of("fulfillments/admin/actions.py")
    offered = {name for name in MOVES if f"states.{name}," in text}
    assert offered == {name for name, move in MOVES.items() if ActorKind.OPERATOR in move.by} - OF_ORDERS
