"""Words that were given up: what stands there instead is in docs/glossary.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
KINDS = {".py", ".html", ".css", ".js", ".md", ".toml", ".txt", ".sh"}

# Nowhere in the text of a file, alone or as a part of a name (`as_told`).
PHRASES = (
    r"deeds?",
    r"grave",
    r"told",
    r"sift(s|ed|ing)?",
    r"settling",
    r"recount(s|ed)?",
    r"leash(es|ed)?",
    r"guardians?",
    r"mourn(s|ed)?",
    r"tellers?",
    r"telling",
    r"parted by",
    r"as of old",
    r"must be a text",
)
# Not the name of a file, a class, a function, an argument or a variable.
NAMES = {
    "Ahead",
    "BREATH",
    "Given",
    "Landed",
    "Lost",
    "Placing",
    "Prepared",
    "brake",
    "deeds",
    "here",
    "insist",
    "meant",
    "patience",
    "pulse",
    "queries",
    "reading",
    "records",
    "recount",
    "settle",
}
WORD = re.compile(rf"\b({'|'.join(NAMES)})\b")  # what has none of them need not be parsed
PATTERN = re.compile(rf"(?i)(?<![a-z])({'|'.join(PHRASES)})(?![a-z])")


def texts() -> Iterator[Path]:
    """Every text file of the project that says what is, not what was."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part in ("var", "migrations") for part in parts)
        if hidden or path.name in ("CHANGELOG.md", Path(__file__).name) or not path.is_file():
            continue
        if path.suffix in KINDS or path.name == "Makefile":
            yield path


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that a module gives, with their lines; not those that others gave."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def test_no_text_says_a_word_that_was_given_up():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for match in PATTERN.finditer(line)
    ]

    assert found == []


def test_nothing_bears_a_name_that_was_given_up():
    files = [str(path.relative_to(ROOT)) for path in texts() if path.stem in NAMES]
    inside = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in texts()
        if path.suffix == ".py" and WORD.search(path.read_text(encoding="utf-8"))
        for line, name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name in NAMES
    ]

    assert files + inside == []


def test_in_the_back_office_a_place_is_a_warehouse_as_the_glossary_says():
    own = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "backoffice").rglob("*.py"))
        for line, name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name == "Place" or path.stem == "places"
    ]

    assert own == []


@pytest.mark.parametrize("line", ["Told you", "as_told(x)", "DEEDS = 1", "parted by commas", "x.settling()"])
def test_the_test_sees_a_word_wherever_it_stands(line):
    assert PATTERN.search(line)


@pytest.mark.parametrize("line", ["indeed", "engraved", "an untold story", "retold"])
def test_the_test_lets_longer_words_be(line):
    assert not PATTERN.search(line)
