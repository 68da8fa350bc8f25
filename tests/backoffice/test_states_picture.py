"""The diagram in docs/states.md shows the table of moves."""

import re

from django.conf import settings

from backoffice.states_picture import mermaid, replaced
from fulfillments.states import MOVES, WORKABLE, State


def test_the_page_of_states_has_the_diagram_of_the_table():
    page = (settings.BASE_DIR / "docs/states.md").read_text(encoding="utf-8")
    assert mermaid() in page
    assert page == replaced(page), "run `manage.py states_diagram`, which writes the page again"


def test_the_diagram_has_every_state_and_every_move():
    diagram = mermaid()
    assert [state for state in State if f'"{state.value}" as {state.name}' not in diagram] == []
    arrows = set(re.findall(r"(\w+) --> (\w+): ([a-z ]+) \(", diagram))
    expected = set()
    for move in MOVES:
        for source in move.sources:
            grouped = source in WORKABLE and set(WORKABLE) <= set(move.sources)
            name = "WORK" if grouped else source.name
            expected.add((name, move.target.name, move.name.replace("_", " ")))
    assert arrows == expected


def test_no_label_of_the_diagram_has_a_colon_because_mermaid_cannot_read_it():
    assert all(line.count(":") <= 1 for line in mermaid().splitlines())
