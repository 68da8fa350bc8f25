"""All statements that lock several rows use the same order, so that they never wait for each other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import sources

ORDERS = {"id", "variant_id, warehouse_id"}
"""The allowed orders: by `id`, or stock levels by their variant and warehouse."""
LOCK = re.compile(r"(?P<before>[^;]*?)\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b")
IS_SQL = re.compile(r"\b(?:WHERE|ORDER BY)\b[^;]*\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b")
ORDER = re.compile(r"ORDER BY (?P<columns>[\w., ]+?)\s*$")
ONE_ROW = "FROM sftp_ingest_uploadarea WHERE supplier_id = %(supplier)s"
"""The lock of a supplier's upload area needs no order, because it locks one row."""
ORDERED = {"order_by", "get", "first", "refresh_from_db", "exists"}
"""Methods of querysets that set an order, or that lock at most one row."""
ELSEWHERE = {
    "inventory/reservations.py: return stock_rows.queryset().select_for_update(of=('self',))": "stock_rows",
}
"""Statements that get their order from another function, with the name of this function."""


def statements_in_sql() -> Iterator[tuple[str, str]]:
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and IS_SQL.search(node.value):
                yield path, node.value


def unordered(sql: str) -> list[str]:
    """Return the parts of a statement that lock rows without one of the orders in ORDERS."""
    found = []
    for match in LOCK.finditer(" ".join(sql.split())):
        order = ORDER.search(match["before"].rstrip())
        named = order["columns"].split(",") if order else []
        columns = ", ".join(each.split(".")[-1].strip() for each in named)
        if columns not in ORDERS and not match["before"].rstrip().endswith(ONE_ROW):
            found.append(match["before"][-80:])
    return found


def test_each_statement_in_sql_locks_its_rows_in_the_one_order():
    statements = [*statements_in_sql()]

    assert {path for path, _ in statements} >= {"inventory/seen_stock.py", "inventory/counts.py"}
    assert [(path, wrong) for path, sql in statements for wrong in unordered(sql)] == []


def test_a_statement_with_another_order_or_none_is_found():
    locked = "SELECT FROM inventory_stocklevel s ORDER BY s.{} FOR UPDATE OF s"
    assert unordered(locked.format("warehouse_id, s.variant_id"))
    assert unordered("SELECT FROM catalog_variant WHERE listed FOR NO KEY UPDATE")
    assert unordered(locked.format("variant_id, s.warehouse_id")) == []


def locking_queries() -> Iterator[tuple[str, ast.AST]]:
    for path, tree in sources().items():
        for node in ast.walk(tree):
            # Examine only `iter` of a loop: the whole `for` statement also contains the calls in its body.
            query = node.iter if isinstance(node, ast.For | ast.comprehension) else node
            is_statement = isinstance(query, ast.Assign | ast.Expr | ast.Return | ast.AnnAssign)
            if (is_statement or query is not node) and "select_for_update" in called(query):
                yield path, query


def called(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def skips_locked_rows(node: ast.AST) -> bool:
    return any(isinstance(each, ast.keyword) and each.arg == "skip_locked" for each in ast.walk(node))


def test_each_query_that_locks_several_rows_names_their_order():
    found = {
        f"{path}: {ast.unparse(query)}"
        for path, query in locking_queries()
        if not called(query) & ORDERED and not skips_locked_rows(query)
    }
    assert found == set(ELSEWHERE)
