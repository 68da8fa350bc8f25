"""The records of operators' pages, which are added to the market of `tools.bench.serving.market`.

Open work has the same size in every market: some orders wait for each reason of the desk. Only finished
work grows with the market: completed orders with their search entries, stock movements, deliveries, imports,
uploads and operators' actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from catalog.importing.kind import PRODUCTS
from fulfillments.states import State, sql
from imports.states import Status
from inventory.importing.kind import INVENTORY
from inventory.models import MovementKind
from inventory.movements import insert_movements
from orders.processing_state import ProcessingState
from tools.bench.database import execute
from tools.bench.serving import market
from tools.bench.serving.market import PARTIES, VARIANTS

KINDS = 8
"""The number of reasons why orders wait. Order n waits because of reason n modulo KINDS."""

EXCEPTION = sql(ProcessingState.EXCEPTION)
# These statements make the orders %(first)s to %(last)s wait, from any earlier state.
WAITING = (
    f"""
    UPDATE orders_order SET ship_until = date '2026-11-01' + mod(id, 60)::int,
        has_unknown_country = mod(id, {KINDS}) = 5, held = mod(id, {KINDS}) = 6,
        processing_state = CASE mod(id, {KINDS}) WHEN 0 THEN {EXCEPTION} WHEN 1 THEN {EXCEPTION}
            WHEN 2 THEN {sql(ProcessingState.CANCELING)} ELSE {sql(ProcessingState.PROCESSING)} END
    WHERE id BETWEEN %(first)s AND %(last)s""",
    f"""
    UPDATE orders_orderline SET shipped = 0, canceled = 0, rejected = (mod(order_id, {KINDS}) = 1)::int,
        open = (mod(order_id, {KINDS}) <> 1)::int, reserved = (mod(order_id, {KINDS}) NOT IN (1, 7))::int,
        waiting_since = CASE mod(order_id, {KINDS}) WHEN 7 THEN now() - interval '2 days' END
    WHERE order_id BETWEEN %(first)s AND %(last)s""",
    f"""
    UPDATE fulfillments_fulfillment SET
        state = CASE mod(id, {KINDS}) WHEN 0 THEN {sql(State.WRONG_ADDRESS)}
            WHEN 1 THEN {sql(State.OUT_OF_STOCK)} WHEN 2 THEN {sql(State.CANCELING)}
            ELSE {sql(State.NEW)} END,
        state_before_cancel = CASE mod(id, {KINDS}) WHEN 2 THEN {sql(State.ACCEPTED)} ELSE '' END,
        due_at = CASE WHEN mod(id, {KINDS}) IN (2, 3) THEN now() - mod(id, 5000) * interval '1 minute' END,
        capture_due_at = CASE mod(id, {KINDS}) WHEN 4 THEN now() - mod(id, 5000) * interval '1 minute' END
    WHERE id BETWEEN %(first)s AND %(last)s""",
    f"""
    UPDATE fulfillments_fulfillmentline SET shipped = 0, canceled = 0,
        rejected = (mod(fulfillment_id, {KINDS}) IN (0, 1))::int,
        reserved = (mod(fulfillment_id, {KINDS}) NOT IN (0, 1, 7))::int
    WHERE fulfillment_id BETWEEN %(first)s AND %(last)s""",
    f"""
    DELETE FROM fulfillments_capture
    WHERE fulfillment_id BETWEEN %(first)s AND %(last)s AND mod(fulfillment_id, {KINDS}) = 4""",
)

BUSY_VARIANTS = 40
"""The number of variants with a full page of movements in markets of every size."""
BUSY_MOVEMENTS = insert_movements(
    MovementKind.COUNT,
    f"generate_series(1, {BUSY_VARIANTS}) v, generate_series(1, 500) n",
    occurred_at="now() - n * interval '1 minute'",
    variant_id="v",
    warehouse_id="1",
    on_hand_change="1",
    on_hand="100",
    reserved="0",
)
ONCE = f"""
    UPDATE inventory_stocklevel SET counted_at = now() - interval '3 days';
    UPDATE inventory_stocklevel SET on_hand = 1, reserved = 3 WHERE mod(id, 250) = 0;
    {BUSY_MOVEMENTS};
    INSERT INTO events_webhook (url, types, areas, active, secret, old_secret, after, last_error, retailer_id,
            failing_since)
        SELECT 'https://shop' || id || '.example/hook', '{{}}', '{{orders}}', true, '', '', 0,
            CASE mod(id, 4) WHEN 0 THEN 'connection refused' ELSE '' END, id,
            CASE mod(id, 4) WHEN 0 THEN now() - interval '2 hours' END
        FROM accounts_retailer ORDER BY id;
    INSERT INTO imports_importjob (kind, status, source, file, options, dry_run, rows_total, rows_done,
            created, updated, unchanged, rejected, duplicates, warnings, ignored_columns, report, error,
            bookmark, owner, attempts, cancel_requested, created_by, request_id, supplier_id, delimiter,
            header, last_line)
        SELECT '{PRODUCTS.name}',
            CASE mod(n, 2) WHEN 0 THEN {sql(Status.AWAITING_APPROVAL)} ELSE {sql(Status.FAILED)} END,
            'products/waiting-' || n || '.csv', '', '{{}}', false, 100, 0, 0, 0, 0, 0, 0, '[]', '[]',
            '{{"reasons": ["Too many prices would change."]}}',
            CASE mod(n, 2) WHEN 1 THEN '{{"code": "unreadable", "message": "No header."}}'::jsonb END,
            0, '', 0, false, 'key:bench', '', mod(n, {PARTIES}) + 1, ',', '[]', 0
        FROM generate_series(1, 80) n;
    INSERT INTO fulfillments_dailysum (supplier_id, retailer_id, day, measure, bucket, count, seconds)
        SELECT s, r, current_date - d, m, 0, 100, 360000
        FROM generate_series(1, {PARTIES}) s, generate_series(1, {PARTIES}) r, generate_series(1, 90) d,
            unnest(ARRAY['accept', 'capture', 'ship']) m;
"""

NUMBERED = "generate_series(%(first)s::bigint, %(last)s::bigint) n"
MOMENT = "timestamptz '2024-01-01 00:00:00Z' + n * interval '1 second'"
PAST = (
    f"""
    INSERT INTO orders_searchentry (text, order_id, kind)
    SELECT text, n, kind FROM {NUMBERED}, LATERAL (VALUES
        ('po-' || lpad(n::text, 9, '0'), 'number'), ('so-' || n, 'sales order'),
        ('ada lovelace-' || mod(n, 5000), 'customer'), ('lovelace-' || mod(n, 5000), 'customer'),
        ('ada' || mod(n, 5000) || '@example.com', 'e-mail')) e (text, kind)""",
    insert_movements(
        None,
        f"{NUMBERED}, LATERAL (SELECT mod(n / {PARTIES}, {PARTIES}) + 1 AS s) o,"
        f" unnest(ARRAY['{MovementKind.RESERVE}', '{MovementKind.SHIP}']) k",
        occurred_at=MOMENT,
        variant_id=f"(s - 1) * {VARIANTS} + mod(n * 3, {VARIANTS}) + 1",
        warehouse_id="s",
        kind="k",
        on_hand_change=f"-(k = '{MovementKind.SHIP}')::int",
        reserved_change=f"CASE k WHEN '{MovementKind.SHIP}' THEN -1 ELSE 1 END",
        on_hand="1000",
        reserved="1",
        actor="'key:bench'",
        order_id="n",
        fulfillment_id="n",
    ),
    f"""
    INSERT INTO events_delivery (subject, status, attempts, last_status, last_error, attempted_at,
        expires_at, event_id, webhook_id)
    SELECT 'order:' || n, 'delivered', 1, 200, '', {MOMENT}, {MOMENT} + interval '3 days', n * 2,
        mod(n, {PARTIES}) + 1
    FROM {NUMBERED}""",
    f"""
    INSERT INTO imports_importjob (kind, status, source, file, options, dry_run, rows_total, rows_done,
        created, updated, unchanged, rejected, duplicates, warnings, ignored_columns, report, bookmark,
        owner, attempts, cancel_requested, created_by, request_id, created_at, finished_at, reported_at,
        supplier_id, delimiter, header, last_line)
    SELECT '{INVENTORY.name}', {sql(Status.SUCCEEDED)}, 'inventory/stock-' || n || '.csv', '', '{{}}', false,
        100, 100, 0, 100, 0, 0, 0, '[]', '[]', '{{}}', 0, '', 1, false, 'sftp:bench', '', {MOMENT}, {MOMENT},
        {MOMENT}, mod(n / 10, {PARTIES}) + 1, ',', '[]', 100
    FROM {NUMBERED} WHERE mod(n, 10) = 0""",
    f"""
    INSERT INTO sftp_ingest_upload (path, size, sha256, uploaded_at, swept_at, supplier_id)
    SELECT 'inventory/stock-' || n || '.csv', 1000, md5(n::text) || md5(n::text), {MOMENT}, {MOMENT},
        mod(n / 10, {PARTIES}) + 1
    FROM {NUMBERED} WHERE mod(n, 10) = 0""",
    f"""
    INSERT INTO events_event (number, type, area, occurred_at, order_id, retailer_id, actor, request_id,
        from_state, to_state, data)
    SELECT 1000000000000 + n, 'order.released', 'orders', {MOMENT}, n, mod(n, {PARTIES}) + 1,
        'user:operator' || mod(n, 140) / 10, '', '', '', '{{}}'
    FROM {NUMBERED} WHERE mod(n, 10) = 0""",
    f"""
    INSERT INTO accounts_operatoraction (model, action, label, actor, request_id, chosen_from, total, answers,
        reason, created_at, looked_at, confirmed_at, finished_at)
    SELECT 'orders.order', 'release', 'Release', 'user:operator' || mod(n, 7000) / 500, '', '', 2, '{{}}', '',
        {MOMENT}, {MOMENT}, {MOMENT}, {MOMENT}
    FROM {NUMBERED} WHERE mod(n, 500) = 0""",
)


def wait(first: int, last: int) -> None:
    """Make these orders wait for an operator."""
    with _without_trigger():
        for statement in WAITING:
            execute(statement, {"first": first, "last": last})
    execute("VACUUM ANALYZE")


def grow(before: int, after: int) -> None:
    """Add the orders with the numbers `before + 1` to `after`, with their records."""
    with _without_trigger():
        market.grow(before, after, (*market.PAST, *PAST))


@contextmanager
def _without_trigger() -> Iterator[None]:
    """Disable the trigger that writes search entries. PAST inserts its own entries, with many names."""
    execute("ALTER TABLE orders_order DISABLE TRIGGER USER")
    yield
    execute("ALTER TABLE orders_order ENABLE TRIGGER USER")
