"""The project's own source files, parsed."""

from __future__ import annotations

import ast
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
APPS = (*DOMAIN, "api", "backoffice", "config")


@cache
def sources(*apps: str) -> dict[str, ast.Module]:
    """The parsed files of some apps (of all, when none is named), by path; migrations excepted."""
    root = Path(settings.BASE_DIR)
    files = [file for app in apps or APPS for file in sorted((root / app).rglob("*.py"))]
    return {
        str(file.relative_to(root)): ast.parse(file.read_text(encoding="utf-8"))
        for file in files
        if "migrations" not in file.parts
    }


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each function with its qualified name, such as `Order.settle`."""

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

    return inside(tree, "")
