"""Tests of the guides: each request shows its answer, and lists agree with the code."""

from __future__ import annotations

import re

import pytest

from catalog.importing.columns import COLUMNS
from tests.pasting import ROOT, Step, code, steps
from tests.shown_answers import differences, shown_documents

GUIDES = (
    "docs/guides/quick-start.md",
    "docs/guides/suppliers.md",
    "docs/guides/retailers.md",
    "docs/guides/webhooks.md",
    "docs/api-guide.md",
)

ANSWER = {
    "id": 7,
    "state": "new",
    "due_at": None,
    "at": "2026-11-24T05:00:00.000000Z",
    "lines": [{"id": 1, "sku": "LAN-01"}, {"id": 2, "sku": "BLK-RED"}],
}


def differences_from(text: str) -> list[str]:
    [shown] = shown_documents(text)
    return [*differences(shown, ANSWER)]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 1, "state": "new", …}',
        '{…, "lines": [{"id": 8, "sku": "LAN-01"}, …]}',
        '{"at": "2025-01-01T00:00:00.000000Z", …, "lines": […]}',
        '{"id": 1, "state": "…", "due_at": null, "at": "2…Z", "lines": [{…}, {…}]}',
    ],
)
def test_an_answer_may_leave_parts_out_and_may_have_other_numbers(text):
    assert differences_from(text) == []


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ('{"id": 1, "status": "new", …}', "answer.status does not exist"),
        ('{"id": 1, "state": "new", "due_at": null, "lines": […]}', "answer.at is missing in the document"),
        ('{"state": "accepted", …}', "answer.state is 'new', not 'accepted'"),
        ('{"id": "1", …}', "answer.id is 7, not '1'"),
        ('{"due_at": "2026", …}', "answer.due_at is None, not '2026'"),
        ('{"lines": [{…}], …}', "answer.lines has 2 elements, not 1"),
        ('{"lines": [{"upc": "", …}, …], …}', "answer.lines[0].upc does not exist"),
    ],
)
def test_a_wrong_part_is_named(text, difference):
    assert differences_from(text) == [difference]


def test_a_text_is_compared_without_its_numbers():
    step = Step("curl …", answer="304\n")
    assert [*step.differences("200\n")] == []
    assert [*step.differences("gone\n")] == ["the output is 'gone', not '304'"]


@pytest.mark.parametrize("page", GUIDES)
def test_each_request_of_a_guide_shows_its_answer(page):
    without = [
        step.commands.splitlines()[0]
        for step in steps(page)
        if "curl " in step.commands and step.answer is None
    ]
    assert without == []


@pytest.mark.parametrize("page", GUIDES[:3])
def test_the_steps_of_a_guide_are_also_in_python_and_typescript(page):
    """`make clients` runs these programs with our clients."""
    assert code(page, "python").count("\n") > 20
    assert code(page, "ts").count("\n") > 20


def test_the_guide_for_suppliers_lists_each_column_of_a_product_file():
    text = (ROOT / "docs/guides/suppliers.md").read_text(encoding="utf-8")
    section = text.partition("**Product fields.**")[2].partition("**Exports of shops.**")[0]
    names = [
        name for row in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`(\w+)`", row)
    ]

    assert sorted(names) == sorted(COLUMNS)
    mandatory = re.findall(r"`(\w+)`", section.partition(".")[0])
    assert set(mandatory) == {name for name, column in COLUMNS.items() if column.required}
