"""The documents name only modules and files that exist, and the menu of their site has every page."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import import_module
from itertools import chain

import pytest

from backoffice.navigation.menu import SECTIONS
from tests.architecture.sources import ROOMS, ROOT
from tools import docs_site

# Leave out the changelog: its entries may name modules that were deleted later.
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"})

TOP = sorted({room.partition("/")[0] for room in ROOMS})

# The section about an app may omit the app's name: `server.listener.Server` is in sftp_ingest.
PACKAGES = {path.parent.name for room in ROOMS for path in ROOT.glob(f"{room}/*/__init__.py")}
NAME = re.compile(rf"`(?:manage\.py )?((?:{'|'.join([*TOP, *PACKAGES])})(?:\.[A-Za-z_]\w*)+)(?:\(.*?\))?`")
FILE = re.compile(rf"`((?:{'|'.join(TOP)}|tests|docs|templates)(?:/[\w.-]+)+/?)`")

LINK = re.compile(r"\]\((?!https?:|mailto:|[/#])([^)#\s]+)")
MENU_PATH = re.compile(r"\*([A-Z][a-z ]+)\* → \*{1,2}([A-Z][A-Za-z ]+)\*{1,2}")
ADR = re.compile(r"(?:\bADR |docs/adr/)(\d+)")

EVENT_TYPES = {"inventory.updated"}  # this name looks like a module, but is an event type


def dotted(room: str) -> str:
    return room.replace("/", ".")


@cache
def exists(name: str) -> bool:
    """Return whether a module, or an attribute of a module, has this name."""
    parts = name.split(".")
    if parts[0] not in TOP:
        return any(exists(f"{room}.{name}") for room in map(dotted, ROOMS))
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_names_only_existing_modules_and_files(document):
    text = document.read_text(encoding="utf-8")
    names = {name for name in NAME.findall(text) if not name.endswith(".py") and not exists(name)}
    files = {file for file in FILE.findall(text) if not (ROOT / file).exists()}

    assert (names - EVENT_TYPES) | files == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_relative_link_leads_to_a_file(document):
    links = LINK.findall(document.read_text(encoding="utf-8"))

    assert [link for link in links if not (document.parent / link).exists()] == []


def test_each_reference_to_an_adr_names_an_existing_record():
    numbers = {int(path.name[:4]) for path in (ROOT / "docs/adr").glob("[0-9]*.md")}
    texts = {*DOCUMENTS, ROOT / "pyproject.toml", ROOT / "gunicorn.conf.py"} - set(ROOT.glob("docs/adr/*"))
    texts |= {path for top in [*TOP, "tests"] for path in (ROOT / top).rglob("*.py")}
    references = {
        (path.relative_to(ROOT).as_posix(), int(number))
        for path in texts
        for number in ADR.findall(path.read_text(encoding="utf-8"))
    }

    assert {(path, number) for path, number in references if number not in numbers} == set()
    assert len(references) > 20


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("orders.models", True),
        ("orders.models.Order.change", True),
        ("orders.models.Ordre", False),
        ("orders.nowhere", False),
        ("server.listener.SftpServer", True),
        ("server.listener.SftpSever", False),
    ],
)
def test_the_test_recognizes_existing_modules(name, there):
    assert exists(name) is there


@pytest.mark.parametrize("room", ["imports.pipeline", "catalog.importing", "inventory.importing"])
def test_a_room_lists_its_modules(room):
    """The docstring of the package names each of its modules, and no deleted module."""
    described = set(re.findall(r"`(\w+)`", import_module(room).__doc__ or ""))
    modules = {path.stem for path in (ROOT / room.replace(".", "/")).glob("*.py")} - {"__init__"}

    assert modules - described == set()
    assert described - modules == set()


def entries(nav: object) -> list[str]:
    """Return all pages of a part of the menu, also from submenus."""
    if isinstance(nav, list):
        return [*chain.from_iterable(map(entries, nav))]
    return entries([*nav.values()]) if isinstance(nav, dict) else [str(nav)]


def test_the_menu_has_every_page_and_no_other():
    menu = entries(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"])
    pages = {name for name, _ in docs_site.pages() if not re.match(r"adr/\d", name)}

    assert set(menu) - {"/v3/docs"} == pages, "correct `nav` in zensical.toml"
    assert len(menu) == len(set(menu))


def test_the_operators_guide_names_only_entries_of_the_menu():
    entries = {(section.title, entry.label) for section in SECTIONS for entry in section.entries}
    named = set(MENU_PATH.findall((ROOT / "docs/operators.md").read_text(encoding="utf-8")))
    assert {path for path in named if path[1] != "Onboard supplier"} - entries == set()
