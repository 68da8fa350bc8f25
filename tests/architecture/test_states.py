"""One place writes each state: nothing else in the project assigns it, by whatever way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.sources import functions, sources

# Who may write which column of which model, and the table that SQL would name.
WRITERS = {
    "state": {"fulfillments/models.py: Fulfillment._move"},
    "processing_state": {"orders/models.py: Order.settle"},
}
TABLES = {"state": "fulfillments_fulfillment", "processing_state": "orders_order"}
# `settling.stamp` is how `Order.settle` and `manage.py reconcile --fix` write it.
SQL_WRITERS = {"processing_state": {"orders/settling.py"}}
# Attributes called `state` that are not a fulfillment's.
MODELS = ("orders", "fulfillments", "backoffice", "accounts", "api", "events", "inventory", "config")


def targets(node: ast.AST) -> Iterator[ast.expr]:
    """The single expressions that a statement assigns to."""
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        found = [node.target]
    for target in found:
        for each in ast.walk(target):
            if isinstance(each, ast.expr):
                yield each


def writes(node: ast.AST, column: str) -> bool:
    """Whether a node assigns the column of some object, or writes it through the ORM."""
    if any(isinstance(each, ast.Attribute) and each.attr == column for each in targets(node)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "setattr":
        return len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value == column
    named = any(keyword.arg == column for keyword in node.keywords)
    if name in ("update", "create", "get_or_create", "update_or_create", "Fulfillment", "Order"):
        return named
    fields = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value == column]
    return name in ("bulk_update", "aupdate") and bool(fields)


@pytest.mark.parametrize("column", WRITERS)
def test_only_one_method_assigns_it(column):
    found = {
        f"{path}: {name}"
        for path, tree in sources(*MODELS).items()
        for name, function in functions(tree)
        for node in ast.walk(function)
        if writes(node, column)
    }

    assert found == WRITERS[column]


@pytest.mark.parametrize("column", WRITERS)
def test_nothing_assigns_it_outside_of_functions(column):
    outside = [
        path
        for path, tree in sources(*MODELS).items()
        for statement in tree.body
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef)
        for node in ast.walk(statement)
        if writes(node, column)
    ]

    assert outside == []


@pytest.mark.parametrize("column", TABLES)
def test_no_sql_writes_it(column):
    pattern = re.compile(rf"(?is)\b(UPDATE|INSERT\s+INTO)\s+{TABLES[column]}\b[^;]*\b{column}\s*(=|,|\))")
    found = {
        path
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and pattern.search(text_of(node))
    }

    assert found == SQL_WRITERS.get(column, set())


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """A string's text; of an f-string, what stands between its holes."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(
        each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


@pytest.mark.parametrize(
    "source",
    [
        "work.state = 'new'",
        "work.state, work.updated_at = 'new', now",
        "(work.state): str = 'new'",
        "for work.state in states: pass",
        "setattr(work, 'state', 'new')",
        "works.update(state='new')",
        "Fulfillment(order=order, state='new')",
        "Fulfillment.objects.create(state='new')",
        "Fulfillment.objects.bulk_update(works, ['state'])",
    ],
)
def test_the_test_sees_every_way_of_writing(source):
    assert any(writes(node, "state") for node in ast.walk(ast.parse(source)))


@pytest.mark.parametrize(
    "source", ["work.state == 'new'", "works.filter(state='new')", "print(work.state)", "state = 1"]
)
def test_the_test_lets_reading_be(source):
    assert not any(writes(node, "state") for node in ast.walk(ast.parse(source)))
