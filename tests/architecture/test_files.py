"""Files are short, and each app uses the same file names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from statistics import median

import pytest

from tests.architecture.sources import DOMAIN, ROOMS, ROOT, sources, text_of

LONGEST_TEMPLATE_LINE = 140
LONGEST_FILE, LONGEST_TEST, LONGEST_MEDIAN = 350, 600, 75

# Names of files and folders with the same meaning in each app: the documents need not explain them.
KNOWN = {
    "__init__",
    "admin",
    "admin_actions",
    "admin_base",
    "admin_filters",
    "apps",
    "filters",
    "forms",
    "management",
    "managers",
    "migrations",
    "models",
    "querysets",
    "selectors",
    "facts",
    "serializers",
    "services",
    "states",
    "static",
    "tasks",
    "templates",
    "urls",
    "views",
}
# Names that say nothing about the content of a file. test_words.py refuses more names.
FORBIDDEN = {"bodies", "helpers", "utils"}


def lengths(*rooms: str) -> dict[str, int]:
    return {path: len(text_of(path).splitlines()) for path in sources(*rooms)}


def test_files_are_short():
    long = {path: lines for path, lines in lengths(*ROOMS, "tools/bench").items() if lines > LONGEST_FILE}
    long |= {path: lines for path, lines in lengths("tests").items() if lines > LONGEST_TEST}

    assert long == {}


def test_most_files_are_very_short():
    assert median(lines for lines in lengths().values() if lines) < LONGEST_MEDIAN


def test_lines_of_templates_are_short():
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]

    assert long == []


def test_template_tags_are_on_one_line():
    """Django does not recognize a tag with a line break, and shows the tag as text."""
    broken = {
        f"{path.relative_to(ROOT)}: {tag}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for tag in re.findall(r"{%[^%}]*\n[^%}]*%}|{{[^}]*\n[^}]*}}", path.read_text(encoding="utf-8"))
    }

    assert broken == set()


@pytest.mark.parametrize("app", DOMAIN)
def test_an_app_has_the_files_that_a_reader_looks_for(app):
    files = {path.stem for path in (ROOT / app).iterdir()}

    assert {"apps", "models", "migrations"} <= files
    if "views" in files:
        assert {"urls", "serializers"} <= files


@pytest.mark.parametrize("app", sorted({*DOMAIN, "backoffice", "portal"}))
def test_a_module_of_an_apps_own_is_named_in_the_documents(app):
    """docs/architecture.md or docs/glossary.md explains each module whose name is not in KNOWN."""
    documents = text_of("docs/architecture.md") + text_of("docs/glossary.md")
    named = set(re.findall(rf"`{app}\.(\w+)", documents))
    own = {path.stem for path in (ROOT / app).iterdir()} - KNOWN - {"__pycache__"}

    assert own & FORBIDDEN == set()
    assert own - named == set()


def imports_inside(path: str, tree: ast.Module) -> Iterator[int]:
    """Return the lines of imports inside functions, unless a comment gives the reason."""
    lines = text_of(path).splitlines()
    inside = {
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for number in sorted(inside):
        first = number
        while first - 1 in inside:
            first -= 1
        beside = lines[number - 1].partition("#")[2]
        reason = re.sub(r"noqa: [A-Z0-9, ]+|type: ignore\[[a-z-]+\]", "", beside)
        if not re.search(r"\w", reason) and not lines[first - 2].lstrip().startswith("#"):
            yield number


def test_an_import_inside_a_function_has_its_reason_beside_it():
    found = [
        f"{path}:{line}"
        for path, tree in sources(*ROOMS, "tools/bench", "tests").items()
        for line in imports_inside(path, tree)
    ]

    assert found == []
