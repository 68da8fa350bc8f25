"""The project's own source files, parsed. A *room* is a folder of source files, such as an app."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

DOMAIN = (
    "orders",
    "fulfillments",
    "assortment",
    "inventory",
    "catalog",
    "imports",
    "sftp_ingest",
    "events",
    "accounts",
)
ROOMS = (*DOMAIN, "fastdb", "api", "ui", "backoffice", "portal", "config", "tools/demo", "tools/launcher")
ROOT = Path(settings.BASE_DIR)


def sources(*rooms: str) -> dict[str, ast.Module]:
    """Return the parsed files of these rooms, or of all rooms, by path, without migrations."""
    return {path: tree for room in rooms or ROOMS for path, tree in _room(room).items()}


@cache
def _room(room: str) -> dict[str, ast.Module]:
    """Return the parsed files of a room, parsed once for all tests.

    Garbage collection is off during the parsing, because it would examine all nodes and free nothing.
    """
    gc.disable()
    try:
        return {
            str(file.relative_to(ROOT)): ast.parse(text_of(file))
            for file in sorted((ROOT / room).rglob("*.py"))
            if "migrations" not in file.parts
        }
    finally:
        gc.freeze()
        gc.enable()


@cache
def walk(node: ast.AST) -> list[ast.AST]:
    """Return a file's or function's node and all nodes below it, computed once."""
    return [*ast.walk(node)]


def text_of(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def functions(tree: ast.Module) -> list[tuple[str, ast.FunctionDef]]:
    """Return each function with its qualified name, such as `Order.lock`."""

    def inside(node: ast.AST, path: str) -> Iterator[tuple[str, ast.FunctionDef]]:
        for child in ast.iter_child_nodes(node):
            name = (
                f"{path}.{child.name}".lstrip(".")
                if isinstance(child, ast.FunctionDef | ast.ClassDef)
                else path
            )
            if isinstance(child, ast.FunctionDef):
                yield name, child
            yield from inside(child, name)

    return [*inside(tree, "")]
