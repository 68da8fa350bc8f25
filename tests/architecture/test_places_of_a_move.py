"""docs/architecture.md lists the files that a new move needs, and each existing move is in these files."""

from __future__ import annotations

import re

from accounts.actors import ActorKind
from fulfillments import states
from tests.architecture.sources import ROOT, text_of

MOVES = {name: move for name, move in vars(states).items() if isinstance(move, states.Move)}
# Operators make these moves by actions on orders: they correct an address, or cancel an order.
OF_ORDERS = {"CORRECT_ADDRESS", "CANCEL_UNCAPTURED"}


def places() -> list[str]:
    """Return the first file that each numbered step of the list names."""
    section = text_of("docs/architecture.md").partition("## How to add a move of a fulfillment")[2]
    steps = re.findall(r"^\d\. .*$", section.partition("\n## ")[0], re.MULTILINE)
    return [re.findall(r"`([\w/.-]+\.(?:py|md))`", step)[0] for step in steps]


def test_the_list_for_a_new_move_names_nine_existing_files():
    assert len(places()) == 9
    assert [place for place in places() if not (ROOT / place).is_file()] == []


def test_every_move_is_in_the_table_of_moves():
    assert {*MOVES.values()} == {*states.MOVES}


def test_every_move_has_a_method_of_fulfillments():
    text = text_of("fulfillments/models/fulfillment.py") + text_of("fulfillments/models/cancelable.py")
    reached = {name for name in MOVES if f"states.{name})" in text}
    reached |= {name for name, move in MOVES.items() if move in states.REJECTIONS.values()}
    assert reached == {*MOVES}


def test_every_move_of_operators_has_an_action():
    text = text_of("fulfillments/admin/actions.py")
    offered = {name for name in MOVES if f"states.{name}," in text}
    assert offered == {name for name, move in MOVES.items() if ActorKind.OPERATOR in move.by} - OF_ORDERS
