"""No filter reads all old rows of a party: the cost of a list depends only on the shown rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Retailer, Supplier
from api.facts import all_facts
from inventory.models import MovementKind
from inventory.movements import insert_movements
from tools.bench.database import execute
from tools.bench.serving import market

# The ids of these tables restart at 1, because the market's orders refer to parties and variants by number.
NUMBERED_FROM_ONE = (
    *("accounts_supplier", "accounts_retailer", "accounts_partnership"),
    *("inventory_warehouse", "catalog_variant"),
)
ORDERS = 8_000
OF_A_PARTY = ORDERS // market.PARTIES
MOST_READ = OF_A_PARTY // 3

LATE, EARLY = "2024-01-01T02:12:00Z", "2024-01-01T00:05:00Z"
OF_RETAILERS: tuple[dict[str, str], ...] = (
    {},
    {"sort": "-updated_at"},
    {"sort": "-id"},
    {"type": "replenish"},
    {"retailer_order_id": "PO-000005000"},
    {"sales_order_number": "SO-7000"},
    {"sales_order_number": "unknown"},
    {"created_at__gt": LATE},
    {"created_at__gte": LATE, "sort": "id"},
    {"created_at__lt": EARLY, "sort": "-updated_at"},
    {"processing_state": "canceling"},
    {"processing_state": "exception", "sort": "-id"},
    {"updated_at__gt": EARLY, "type": "replenish"},
)
OF_SUPPLIERS: tuple[dict[str, str], ...] = (
    {},
    {"fulfillment_state": "new", "retailer_state": "ordered"},
    {"fulfillment_state": "missing_sku"},
    {"fulfillment_state": "cancelling"},
)
MOVEMENTS: tuple[dict[str, str], ...] = (
    {},
    {"kind": "reserve"},
    {"kind": "opening"},
    {"kind": "ship"},
    {"sku": "S1-000007"},
    {"variant_id": "7", "kind": "opening"},
    {"order_id": "7"},
    {"warehouse_id": "1"},
    {"warehouse_id": "1", "kind": "opening"},
)
# SQL that adds two stock movements for each order: one reserves a unit, one releases it. Stock is unchanged.
MOVED = insert_movements(
    None,
    f"""generate_series(1, %(orders)s) n
    JOIN catalog_variant v ON v.id = mod(n, (SELECT count(*) FROM catalog_variant)) + 1
    JOIN inventory_warehouse w ON w.supplier_id = v.supplier_id
    CROSS JOIN (VALUES ('{MovementKind.RESERVE}', 1), ('{MovementKind.RELEASE}', -1)) k (kind, change)
    ORDER BY n, change DESC
    """,
    variant_id="v.id",
    warehouse_id="w.id",
    kind="k.kind",
    reserved_change="k.change",
    on_hand="1000000000",
    reserved="greatest(k.change, 0)",
    order_id="n",
)
COUNTED = {"exchange_orders", "exchange_fulfillments_overdue", "exchange_events_unpublished"}
EVENTS: tuple[dict[str, str], ...] = (
    {},
    {"type": "fulfillment.returned"},
    {"type": "order.created"},
    {"type": "import.succeeded,fulfillment.created"},
    {"after": str(ORDERS), "type": "fulfillment.returned,fulfillment.shipped"},
)


@pytest.fixture
def old_market(db: None) -> None:
    for table in NUMBERED_FROM_ONE:
        execute(f"ALTER TABLE {table} ALTER COLUMN id RESTART")
    execute(market.CAST)
    for statement in market.PAST:
        execute(statement, {"first": 1, "last": ORDERS})
    execute(MOVED, {"orders": 2 * ORDERS})
    execute("ANALYZE")


def rows_read(statement: str) -> int:
    """Return the number of rows that a statement reads, including rows that it does not return."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}")
        (plan,) = cursor.fetchone()
    return _looked_at((plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"])


def _looked_at(node: dict[str, Any]) -> int:
    own = 0
    if "Relation Name" in node:
        names = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
        own = int(sum(node.get(name, 0) for name in names) * node["Actual Loops"])
    return own + sum(map(_looked_at, node.get("Plans", ())))


@pytest.mark.usefixtures("old_market")
def test_the_cost_of_metrics_depends_on_open_work():
    execute("SET LOCAL enable_seqscan = off")  # with few old rows, PostgreSQL would prefer a sequential scan
    with CaptureQueriesContext(connection) as statements:
        samples, failed = all_facts()
    counted = sum(sample.value for sample in samples if sample.name in COUNTED)
    read = sum(rows_read(query["sql"]) for query in statements if query["sql"].startswith(("SELECT", "\n")))

    assert failed == []
    assert 0 < counted < ORDERS
    assert read < counted + 4 * market.PARTIES, "only open work and a few rows of each party may be read"


# Filters of operators that match few rows of all parties.
OF_OPERATORS = {
    "/admin/orders/order/": {"type__exact": "replenish"},
    "/admin/fulfillments/fulfillment/": {"state__exact": "missing_sku"},
    "/admin/events/event/": {"area": "catalog"},
    "/admin/catalog/variant/": {"listed__exact": "0"},
    "/admin/inventory/stockmovement/": {"q": "S1-000007"},
}


@pytest.mark.usefixtures("old_market")
def test_the_cost_of_a_list_depends_on_the_shown_rows(client_for, admin_client):
    retailer, supplier = Retailer.objects.earliest("pk"), Supplier.objects.earliest("pk")
    client_for(retailer).get("events", {"limit": "1"})  # this read gives the events their numbers
    asked = [(client_for(retailer), "orders", params) for params in OF_RETAILERS]
    asked += [(client_for(supplier), "fulfillments", params) for params in OF_SUPPLIERS]
    asked += [(client_for(supplier), "inventory/movements", params) for params in MOVEMENTS]
    asked += [(client_for(party), "events", params) for party in (retailer, supplier) for params in EVENTS]
    asked = [(client, path, params | {"limit": "10"}) for client, path, params in asked]
    asked += [(admin_client, path, params) for path, params in OF_OPERATORS.items()]
    far = {}
    for client, path, params in asked:
        with CaptureQueriesContext(connection) as statements:
            assert client.get(path, params).status_code == 200
        listed = [each["sql"] for each in statements if each["sql"].lstrip(" (").startswith("SELECT")]
        read = sum(map(rows_read, listed))
        if read > MOST_READ:
            far[path, str(params)] = read
    assert far == {}
