"""The picture of the states in docs/ follows the table."""

from xml.etree import ElementTree

from django.conf import settings

from backoffice.states_picture import POSITIONS, arrows, svg
from fulfillments.states import MOVES, State


def test_the_committed_picture_is_what_the_table_gives():
    committed = (settings.BASE_DIR / "docs" / "states.svg").read_text(encoding="utf-8")
    assert committed == svg(), "draw it again: manage.py states_diagram"


def test_the_picture_has_every_state_and_every_move():
    assert set(POSITIONS) == set(State)
    text = " ".join(ElementTree.fromstring(svg()).itertext())
    assert [state for state in State if state.value not in text] == []
    drawn = {(arrow.target, arrow.label.partition(": ")[2]) for arrow in arrows()}
    assert drawn == {(move.target, move.name.replace("_", " ")) for move in MOVES}
