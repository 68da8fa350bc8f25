"""Each error code has a section in docs/errors.md with the remedy, and every error links to its section."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from django.test import Client

from api.errors import FRAMEWORK_CODES, ApiError
from config.web.answers import CODES
from tests.architecture.sources import ROOMS, sources, text_of, walk

REQUESTS, REST = "# Requests", "# Fields"


def subclasses(cls: type[ApiError]) -> Iterator[type[ApiError]]:
    for each in cls.__subclasses__():
        yield each
        yield from subclasses(each)


def named(name: str, place: int, *, of: str = "") -> set[str]:
    """Return the literal strings at this index of the arguments, from all calls of the function `name`.

    `of` is the name of the object whose method is called.
    """
    found = set()
    for tree in sources(*ROOMS).values():
        for node in walk(tree):
            if not isinstance(node, ast.Call) or len(node.args) <= place:
                continue
            given = node.args[place]
            called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if called == name and of in ("", owner) and isinstance(given, ast.Constant):
                found.add(str(given.value))
    return found


def section(begin: str, end: str) -> str:
    return text_of("docs/errors.md").partition(f"\n{begin}\n")[2].partition(f"\n{end}\n")[0]


def in_table(begin: str, end: str) -> set[str]:
    cells = re.findall(r"^\| (`.*?`) \|", section(begin, end), re.MULTILINE)
    return {code for cell in cells for code in re.findall(r"`(\w+)`", cell)} - {"code"}


def test_every_code_of_an_error_has_a_section_and_every_section_a_code():
    # Ignore error classes that a test may define.
    of_classes = {each.code for each in subclasses(ApiError) if each.__module__.split(".")[0] in ROOMS}
    codes = {ApiError.code} | of_classes | set(FRAMEWORK_CODES.values()) | set(CODES.values())
    documented = set(re.findall(r"^## (\w+)$", section(REQUESTS, REST), re.MULTILINE))

    assert codes == documented


def test_a_section_names_the_event_the_reason_and_the_remedy():
    for part in section(REQUESTS, REST).split("\n## ")[1:]:
        assert re.search(r"^Status \d{3}\. Again: ", part, re.MULTILINE), part
        for question in ("What happened", "Why", "What to do"):
            assert f"\n**{question}.** " in part, f"{part}: {question}"


def test_every_code_of_a_failed_job_and_of_a_rejected_row_is_explained():
    jobs = named("Unreadable", 0) | named("fail", 0, of="job")
    rows = named("RowRule", 1) | named("Record", 2) | named("_refuse", 3)

    assert jobs - in_table("# Files", "# Rows") == set()
    assert rows - in_table("# Rows", "# none") == set()


@pytest.mark.django_db
def test_an_error_leads_to_its_section(acme, client_for, anonymous):
    for answer in (client_for(acme).get("imports/9"), anonymous.get("/v3/suppliers/1")):
        path, _, place = answer.json()["docs"].partition("#")
        assert place == answer.json()["code"]
        assert Client().get(path).headers["Location"] == "/docs/errors/"
        assert f"\n## {place}\n" in text_of("docs/errors.md")
