"""The words of the project: refused words and names, and sentences that are easy to read.

docs/glossary.md has the words to use instead.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from tests.architecture.sources import ROOMS, sources, text_of, walk

ROOT = Path(settings.BASE_DIR)
KINDS = {".py", ".html", ".css", ".js", ".md", ".toml", ".txt", ".sh"}

# Words that no file may contain, alone or as a part of a name (`as_told`).
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
    r"anew",
    r"whoever",
    r"is said to",
    r"is asked for",
    r"let go of",
    r"must be a text",
    r"stor(y|ies)",
)
# Names that no file, class, function, argument or variable may have.
NAMES = {
    "Ahead",
    "BREATH",
    "Given",
    "Landed",
    "Lost",
    "Placing",
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
WORD = re.compile(rf"\b({'|'.join(NAMES)})\b")  # a file without these words need not be parsed
PATTERN = re.compile(rf"(?i)(?<![a-z])({'|'.join(PHRASES)})(?![a-z])")


def texts() -> Iterator[Path]:
    """Yield the text files of the project, without the changelog, the migrations and this file."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part in ("var", "migrations") for part in parts)
        if hidden or path.name in ("CHANGELOG.md", Path(__file__).name) or not path.is_file():
            continue
        if path.suffix in KINDS or path.name == "Makefile":
            yield path


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that a module defines, with their lines."""
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


def test_no_text_has_a_given_up_word():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for match in PATTERN.finditer(line)
    ]

    assert found == []


def test_nothing_has_a_given_up_name():
    files = [str(path.relative_to(ROOT)) for path in texts() if path.stem in NAMES]
    inside = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in texts()
        if path.suffix == ".py" and WORD.search(path.read_text(encoding="utf-8"))
        for line, name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name in NAMES
    ]

    assert files + inside == []


def test_the_back_office_says_warehouse_instead_of_place():
    places = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "backoffice").rglob("*.py"))
        for line, name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name == "Place" or path.stem == "places"
    ]

    assert places == []


@pytest.mark.parametrize("line", ["Told you", "as_told(x)", "DEEDS = 1", "parted by commas", "x.settling()"])
def test_the_test_finds_a_word_at_any_position(line):
    assert PATTERN.search(line)


@pytest.mark.parametrize("line", ["indeed", "engraved", "an untold history", "retold"])
def test_the_test_ignores_longer_words(line):
    assert not PATTERN.search(line)


# --- Sentences -----------------------------------------------------------------------------------

ALL_ROOMS = (*ROOMS, "tools/bench", "tests")

# A sentence that opens with one of these words puts a clause before its noun.
ODD_OPENING = re.compile(r"(?:What|Who|Whom|Whose|Whoever|Whatever|Of|None|So|As|Those|Nobody)\b")
# Words that often replace the noun that a reader needs.
RIDDLE = re.compile(r"(?i)\b(?:what|who|whom|whoever|whatever|none|those|anew|nobody|somebody)\b")
MOST_RIDDLES = 6 / 1000  # riddles per word of text

# `as` and `so` are ordinary English in these openings.
ODD_BUT_PLAIN = ("As with ", "As long as ", "So the ", "So that ")

# Class names that may exist several times, because Django requires the name.
SEVERAL_TIMES = {"Command", "Meta", "Migration"}


@cache
def _trees() -> dict[str, ast.Module]:
    return sources(*ALL_ROOMS)


@cache
def entries(path: str) -> tuple[tuple[int, str], ...]:
    """Return the docstrings and comments of a file, with the numbers of their first lines.

    Neighboring lines with comments count as one comment.
    """
    return tuple(sorted([*_docstrings(path), *_comments(path)]))


def _docstrings(path: str) -> Iterator[tuple[int, str]]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in walk(_trees()[path]):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def _comments(path: str) -> Iterator[tuple[int, str]]:
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != last + 1:
            yield first, " ".join(block)
            block = []
        if not block:
            first = token.start[0]
        block.append(token.string.lstrip("# "))
        last = token.start[0]
    if block:
        yield first, " ".join(block)


def is_odd(text: str) -> bool:
    return bool(ODD_OPENING.match(text)) and not text.startswith(ODD_BUT_PLAIN)


@pytest.mark.parametrize("room", ALL_ROOMS)
def test_no_sentence_opens_with_a_riddle(room):
    odd = [
        f"{path}:{line}: {text[:60]}"
        for path in sources(room)
        for line, text in entries(path)
        if is_odd(text)
    ]

    assert odd == []


@pytest.mark.parametrize("room", ALL_ROOMS)
def test_sentences_use_the_noun(room):
    """A few of these words are good English. More than six in 1,000 words make texts hard to read."""
    texts = [text for path in sources(room) for _, text in entries(path)]
    words = sum(len(text.split()) for text in texts)
    riddles = sum(len(RIDDLE.findall(text)) for text in texts)

    assert riddles <= max(2, words * MOST_RIDDLES)


def test_a_class_name_exists_once():
    modules = defaultdict(list)
    for path, tree in sources(*ROOMS, "tools/bench").items():
        for node in walk(tree):
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(path)

    assert {
        name: paths for name, paths in modules.items() if len(paths) > 1 and name not in SEVERAL_TIMES
    } == {}


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("What a line needs.", True),
        ("Of each supplier, the best.", True),
        ("As with epochs, apps register.", False),
        ("Return the stock rows.", False),
        ("Office hours.", False),
    ],
)
def test_the_test_knows_an_odd_opening(text, odd):
    assert is_odd(text) is odd
