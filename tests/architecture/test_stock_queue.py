"""Only one module decides which backorder gets stock first."""

from __future__ import annotations

import ast
import re

from tests.architecture.sources import sources, walk

# SQL that puts backorders in order compares the ids of their orders, or uses the flag `behind`, which marks
# lines that get stock last.
QUEUE = re.compile(r"\b[fo]\.(order_)?id <(?!>)|\bp\.behind\b")


def test_only_the_stock_queue_orders_backorders():
    found = {
        path
        for path, tree in sources("orders", "fulfillments").items()
        if "/migrations/" not in path
        for node in walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and QUEUE.search(node.value)
    }
    assert found == {"fulfillments/stock_queue.py"}
