"""Only the listed functions and SQL statements assign the state of an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
from django.apps import apps

from events import states as events
from fulfillments import states as fulfillments
from imports import states as imports
from imports.kinds import all_kinds
from orders.processing_state import ProcessingState
from tests.architecture.sources import DOMAIN, ROOMS, functions, sources, walk

# The demo writes orders of the past in bulk. tests/demo/test_market.py checks their states by `reconcile`.
PAST = "tools/demo/market/history.py: History"
# The functions that may assign each column.
WRITERS: dict[str, set[str]] = {
    "fulfillments.Fulfillment.state": {
        "fulfillments/models/movable.py: MovableFulfillment._move",
        f"{PAST}._work",
    },
    "fulfillments.Fulfillment.state_before_cancel": {
        "fulfillments/models/cancelable.py: CancelableFulfillment.request_cancelation",
        "fulfillments/models/cancelable.py: CancelableFulfillment.approve_cancelation",
        "fulfillments/models/cancelable.py: CancelableFulfillment.refuse_cancelation",
        f"{PAST}._work",
    },
    "imports.ImportJob.status": {"imports/models/job.py: ImportJob._move"},
    "orders.Order.processing_state": {
        "orders/change.py: OrderChange._carry_out",
        f"{PAST}._order",
    },
    "events.Delivery.status": set(),  # no function assigns this column: only SQL updates it
}
# The files that may write each column by SQL. `OrderChange` and `manage.py reconcile --fix` write an order's
# state by `processing_state.stamp`. `reconcile` repairs a fulfillment's state from its history and its units.
SQL_WRITERS: dict[str, set[str]] = {
    "orders.Order.processing_state": {"orders/processing_state.py"},
    "fulfillments.Fulfillment.state": {"orders/reconciling/history_sources.py"},
    "fulfillments.Fulfillment.state_before_cancel": {"orders/reconciling/history_sources.py"},
    "events.Delivery.status": {
        "events/webhooks/relay.py",
        "events/webhooks/sending/results.py",
        "events/webhooks/upkeep.py",
    },
}
# Columns with `state` or `status` in the name that are not the state of an object with moves.
NO_STATE = {
    "accounts.IdempotencyKey.status",  # the status of the stored HTTP response
    "events.Event.from_state",
    "events.Event.to_state",
    "events.Delivery.last_status",  # the status of the receiver's HTTP response
}
# The module with the table of moves for each column. The columns in DERIVED have no moves: they are computed
# from other states, or keep an earlier state.
TABLES = {
    "fulfillments.Fulfillment.state": fulfillments,
    "imports.ImportJob.status": imports,
    "events.Delivery.status": events,
}
DERIVED = {"fulfillments.Fulfillment.state_before_cancel", "orders.Order.processing_state"}
# SQL gets these values from `states.sql`, and does not spell them as literals.
SPELLED = {*fulfillments.State.values, *ProcessingState.values, *imports.Status.values}
QUOTED = re.compile(rf"'({'|'.join(sorted(SPELLED))})'")
# Pairs of a file and a word of SPELLED that has another meaning in this file.
OTHER_MEANINGS: set[tuple[str, str]] = set()
# The words of import statuses that no other state uses. Only `Status` may spell them, in SQL and in Python.
ONLY_OF_IMPORTS = {*imports.Status.values} - {"failed", "canceled"}
KINDS = [kind.name for kind in all_kinds()]
# A comparison of the kind of an import with a literal in SQL, such as `kind = 'products'`.
KIND_IN_SQL = re.compile(rf"\bkind\b\W{{1,6}}'({'|'.join(KINDS)})'")
# Functions that write a column of another model with the same column name.
NAMESAKES = {"accounts/idempotency.py: _keep"}
# The names of the models. A call of such a name creates an object.
MODELS = {field.split(".")[1] for field in WRITERS}
# The types of nodes that `writes` examines.
WRITING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.Call)
SQL = re.compile(r"(?i)\b(UPDATE|INSERT)\s")


def targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yield each expression that a statement assigns to, including the elements of a tuple."""
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
    """Return whether a node assigns an attribute with the column's name, or writes the column by the ORM."""
    if any(isinstance(each, ast.Attribute) and each.attr == column for each in targets(node)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "setattr":
        return len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value == column
    named = any(keyword.arg == column for keyword in node.keywords)
    if name in ("update", "update_if_owner", "create", "get_or_create", "update_or_create", *MODELS):
        return named
    fields = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value == column]
    return name in ("bulk_update", "aupdate") and bool(fields)


def test_every_state_column_is_listed_with_its_writers():
    columns = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in DOMAIN
        for field in model._meta.concrete_fields
        if re.search(r"(^|_)(state|status)(_|$)", field.name)
    }

    assert columns == {*WRITERS, *NO_STATE}


def test_every_state_that_is_set_has_a_table_of_its_moves():
    assert {*TABLES, *DERIVED} == {*WRITERS}
    for field, table in TABLES.items():
        label, _, column = field.rpartition(".")
        choices = {value for value, _ in apps.get_model(label)._meta.get_field(column).choices or ()}
        assert {state for move in table.MOVES for state in (*move.sources, *move.targets)} == choices


@cache
def inside_functions() -> list[tuple[str, ast.AST]]:
    """Return each node that may write a column, with the name of its file and function."""
    return [
        (f"{path}: {name}", node)
        for path, tree in sources().items()
        for name, function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, WRITING)
    ]


@cache
def outside_of_functions() -> list[tuple[str, ast.AST]]:
    """Return each node outside functions and classes that may write a column, with its file."""
    return [
        (path, node)
        for path, tree in sources().items()
        for statement in tree.body
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef)
        for node in ast.walk(statement)
        if isinstance(node, WRITING)
    ]


@cache
def statements() -> list[tuple[str, str]]:
    """Return each string that may be SQL, with its file."""
    found = [
        (path, text_of(node))
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr)
    ]
    return [(path, text) for path, text in found if SQL.search(text)]


@pytest.mark.parametrize("field", WRITERS)
def test_only_the_listed_writers_assign_a_state(field):
    column = field.rpartition(".")[2]
    found = {place for place, node in inside_functions() if writes(node, column)}
    others = [WRITERS[each] for each in WRITERS if each != field and each.endswith(f".{column}")]

    assert found - NAMESAKES.union(*others) == WRITERS[field]


@pytest.mark.parametrize("field", WRITERS)
def test_no_code_outside_of_functions_assigns_a_state(field):
    column = field.rpartition(".")[2]
    outside = [path for path, node in outside_of_functions() if writes(node, column)]

    assert outside == []


@pytest.mark.parametrize("field", WRITERS)
def test_only_the_listed_files_write_a_state_by_sql(field):
    model, _, column = field.rpartition(".")
    table = apps.get_model(model)._meta.db_table
    pattern = re.compile(rf"(?is)\b(UPDATE|INSERT\s+INTO)\s+{table}\b[^;]*\b{column}\s*(=|,|\))")
    found = {path for path, text in statements() if pattern.search(text)}

    assert found == SQL_WRITERS.get(field, set())


def quoted_states() -> set[tuple[str, str]]:
    """Return each file whose strings have a state as a SQL literal (`'shipped'`), with the state.

    Docstrings are skipped.
    """
    found = set()
    for path, tree in sources(*ROOMS, "tools/bench").items():
        docstrings = {id(node.value) for node in walk(tree) if isinstance(node, ast.Expr)}
        for node in walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found |= {(path, state) for state in QUOTED.findall(node.value)}
    return found


def test_no_string_outside_the_table_spells_a_state():
    assert quoted_states() == OTHER_MEANINGS


def test_only_its_table_spells_the_status_of_an_import():
    spelled = {
        (path, node.value)
        for path, tree in sources(*DOMAIN, "backoffice", "config", "tools/bench/operating").items()
        for node in walk(tree)
        if isinstance(node, ast.Constant) and node.value in ONLY_OF_IMPORTS
    }
    assert {path for path, _ in spelled} == {"imports/states.py"}


def spells_kind(node: ast.AST) -> bool:
    """Return whether a node has the kind of an import as a literal, in Python or in SQL.

    The literal is an argument `kind=`, or is compared with `kind`.
    """
    if isinstance(node, ast.keyword):
        return node.arg == "kind" and isinstance(node.value, ast.Constant) and node.value.value in KINDS
    if isinstance(node, ast.Compare):
        named = any(getattr(each, "attr", getattr(each, "id", "")) == "kind" for each in ast.walk(node.left))
        return named and any(
            isinstance(each, ast.Constant) and each.value in KINDS
            for comparator in node.comparators
            for each in ast.walk(comparator)
        )
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(KIND_IN_SQL.search(node.value))
    )


def test_only_the_descriptions_of_import_kinds_spell_their_names():
    found = {
        path
        for path, tree in sources(*DOMAIN, "backoffice", "config", "tools/bench/operating").items()
        for node in walk(tree)
        if spells_kind(node)
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    [
        "jobs.filter(kind='inventory')",
        "job.kind == 'products'",
        "kind not in ('products', 'inventory')",
        "\"data->>'kind' = 'inventory'\"",
    ],
)
def test_the_test_sees_every_spelling_of_a_kind(source):
    assert any(spells_kind(node) for node in ast.walk(ast.parse(source)))


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """Return the text of a string, or the constant parts of an f-string."""
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
def test_the_test_ignores_reads(source):
    assert not any(writes(node, "state") for node in ast.walk(ast.parse(source)))
