"""A market with any number of orders, built by SQL. The first orders are open, most others are completed.

Markets of all sizes have the same open orders, and so the same work for their suppliers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import ApiKey, Retailer, Supplier
from fulfillments.states import State, sql
from inventory.models import MovementKind
from inventory.movements import insert_movements
from orders.processing_state import ProcessingState
from tools.bench.database import execute

PARTIES, VARIANTS = int(os.environ.get("BENCH_PARTIES", "8")), 2_000
"""The number of suppliers, which is also the number of retailers, and the number of each supplier's variants.

Every retailer is a partner of every supplier.
"""
OPEN = 2_000
"""The number of open orders, which suppliers capture and retailers poll."""
BATCH = 100_000

ADDRESS = (
    '{"first_name": "Ada", "last_name": "Lovelace", "address1": "12 St James Square", "address2": "",'
    ' "country": "GB", "state": "", "city": "London", "zip_code": "SW1Y 4JH",'
    ' "phone_number": "+44 20 7946 0000", "email": "ada@example.com", "company_name": ""}'
)

OPENINGS = insert_movements(
    MovementKind.OPENING,
    "inventory_stocklevel ORDER BY id",
    on_hand_change="on_hand",
    reserved_change="reserved",
)
CAST = f"""
    INSERT INTO accounts_supplier (name, priority, safety_stock)
        SELECT 'Supplier ' || n, 100, 0 FROM generate_series(1, {PARTIES}) n;
    INSERT INTO accounts_retailer (name) SELECT 'Retailer ' || n FROM generate_series(1, {PARTIES}) n;
    INSERT INTO accounts_partnership (retailer_id, supplier_id, retailer_erp_id, retailer_shipper_account,
            service_types, is_active, refuse_short_orders, cancelation_default)
        SELECT r.id, s.id, 'ERP-' || r.id, 'UPS-77', '{{ecommerce,marketplace,wholesale}}', true, false,
            'wait'
        FROM accounts_retailer r, accounts_supplier s ORDER BY r.id, s.id;
    INSERT INTO inventory_warehouse (supplier_id, name, is_default)
        SELECT id, 'Main', true FROM accounts_supplier ORDER BY id;
    INSERT INTO catalog_variant (supplier_id, sku, model, title, description, description_extra,
            description_bullets, upc, ean, gtin, id_in_source, images, retail_price, wholesale_price,
            options, properties, listed)
        SELECT s.id, 'S' || s.id || '-' || lpad(n::text, 6, '0'), 'M-' || n / 4, 'Shirt no. ' || n, '', '',
            '{{}}', '', '', '', n::text, '', 19.99, 9.5, '[]', '[]', true
        FROM accounts_supplier s, generate_series(1, {VARIANTS}) n ORDER BY s.id, n;
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
        SELECT v.id, w.id, 1000000000, 0 FROM catalog_variant v
        JOIN inventory_warehouse w ON w.supplier_id = v.supplier_id ORDER BY v.id;
    {OPENINGS};
"""

RECEIVED, COMPLETED, CANCELED = (
    sql(state) for state in (ProcessingState.RECEIVED, ProcessingState.COMPLETED, ProcessingState.CANCELED)
)
# The parties, time and state of order n. The order's only fulfillment also has the number n.
NUMBERED = f"""
    SELECT n, mod(n, {PARTIES}) + 1 AS retailer, mod(n / {PARTIES}, {PARTIES}) + 1 AS supplier,
        timestamptz '2024-01-01 00:00:00Z' + n * interval '1 second' AS moment,
        CASE WHEN n <= {OPEN} THEN {RECEIVED} WHEN mod(n, 50) = 0 THEN {CANCELED}
            ELSE {COMPLETED} END AS state
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
"""
LINES = f"""
    SELECT o.*, p.position, o.n * 3 - 2 + p.position AS line,
        (o.supplier - 1) * {VARIANTS} + mod(o.n * 3 + p.position, {VARIANTS}) + 1 AS variant,
        (o.state = {COMPLETED})::int AS shipped, (o.state = {CANCELED})::int AS canceled,
        (o.state = {RECEIVED})::int AS open
    FROM ({NUMBERED}) o, generate_series(0, 2) AS p (position)
"""

PAST = (
    f"""
    INSERT INTO orders_order (id, retailer_id, retailer_order_id, type, id_in_source, billing_address,
        shipping_address, shipping_method_code, shipping_paid, sales_division_code, sales_order_number,
        gift_message, is_gift, ship_until, notes, content_digest, held, processing_state, created_at,
        updated_at)
    SELECT n, retailer, 'PO-' || lpad(n::text, 9, '0'), 'dropship', '', '{ADDRESS}', '{ADDRESS}', 'GROUND',
        4.95, '', 'SO-' || n, '', false, moment::date + 3, '[]', md5(n::text) || md5(n::text), false, state,
        moment, moment + interval '1 ms'
    FROM ({NUMBERED}) o""",
    f"""
    INSERT INTO orders_orderline (id, order_id, position, sku, upc, title, quantity, billed_amount, notes,
        open, reserved, shipped, rejected, canceled, returned, dropped)
    SELECT line, n, position, v.sku, '', v.title, 1, 19.99, '[]', open, open, shipped, 0, canceled, 0, 0
    FROM ({LINES}) l JOIN catalog_variant v ON v.id = l.variant""",
    f"""
    INSERT INTO fulfillments_fulfillment (id, order_id, supplier_id, partnership_id, warehouse_id, state,
        state_before_cancel, tracking_number, invoice_id, created_at, updated_at)
    SELECT n, n, supplier, (retailer - 1) * {PARTIES} + supplier, supplier,
        CASE state WHEN {RECEIVED} THEN {sql(State.NEW)} WHEN {COMPLETED} THEN {sql(State.SHIPPED)}
            ELSE state END,
        '', '', '', moment, moment
    FROM ({NUMBERED}) o""",
    f"""
    INSERT INTO fulfillments_fulfillmentline (id, fulfillment_id, order_line_id, variant_id, sku, upc, title,
        wholesale_price, quantity, reserved, shipped, rejected, canceled, returned, cancel_requested)
    SELECT line, n, line, variant, v.sku, v.upc, v.title, v.wholesale_price, 1, open, shipped, 0, canceled, 0,
        0
    FROM ({LINES}) l JOIN catalog_variant v ON v.id = l.variant""",
    f"""
    INSERT INTO fulfillments_shipment (fulfillment_id, tracking_number, carrier, shipped_at, items)
    SELECT n, '1Z' || lpad(n::text, 16, '0'), 'UPS', moment,
        (SELECT jsonb_agg(jsonb_build_object('line', n * 3 - 2 + p, 'quantity', 1))
         FROM generate_series(0, 2) p)
    FROM ({NUMBERED}) o WHERE state = {COMPLETED}""",
    f"""
    INSERT INTO fulfillments_capture (fulfillment_id, captured_at) SELECT n, moment FROM ({NUMBERED}) o""",
    f"""
    INSERT INTO fulfillments_routingdecision (order_id, decided_at, cause, lines)
    SELECT n, moment, 'order.created', '[]' FROM ({NUMBERED}) o""",
    f"""
    INSERT INTO events_event (number, type, area, occurred_at, order_id, fulfillment_id, supplier_id,
        retailer_id, actor, request_id, from_state, to_state, data)
    SELECT n * 2 + e, CASE e WHEN 0 THEN 'order.created' ELSE 'fulfillment.created' END,
        CASE e WHEN 0 THEN 'orders' ELSE 'fulfillments' END, moment, n, CASE e WHEN 1 THEN n END,
        CASE e WHEN 1 THEN supplier END, retailer, 'key:bench', md5(n::text), '', '', '{{}}'
    FROM ({NUMBERED}) o, generate_series(0, 1) e""",
)

NUMBERS = ("orders_order", "orders_orderline", "fulfillments_fulfillment", "fulfillments_fulfillmentline")
CLOCKS = f"""
    INSERT INTO orders_retailerclock (retailer_id, last, completed, canceled, pending)
    SELECT retailer_id, now(), count(*) FILTER (WHERE processing_state = {COMPLETED}),
        count(*) FILTER (WHERE processing_state = {CANCELED}),
        count(*) FILTER (WHERE processing_state NOT IN ({COMPLETED}, {CANCELED}))
    FROM orders_order GROUP BY 1
    ON CONFLICT (retailer_id) DO UPDATE SET completed = excluded.completed, canceled = excluded.canceled,
        pending = excluded.pending
"""


@dataclass(frozen=True)
class Secrets:
    """API keys by the id of their party."""

    retailers: dict[int, str]
    suppliers: dict[int, str]


def open_market() -> Secrets:
    """Create the parties with their variants and stock in an empty database; return a key of each party."""
    execute(CAST)
    return Secrets(
        {retailer.pk: ApiKey.issue(retailer, "bench")[1] for retailer in Retailer.objects.order_by("pk")},
        {supplier.pk: ApiKey.issue(supplier, "bench")[1] for supplier in Supplier.objects.order_by("pk")},
    )


def grow(before: int, after: int, statements: Sequence[str] = PAST) -> None:
    """Add the orders with the numbers `before + 1` to `after` by these statements."""
    for first in range(before + 1, after + 1, BATCH):
        for statement in statements:
            execute(statement, {"first": first, "last": min(first + BATCH - 1, after)})
    execute(CLOCKS)
    for table in NUMBERS:
        execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
    execute("VACUUM ANALYZE")
