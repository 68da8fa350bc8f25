"""SQL that recomputes flags, time limits, search entries and returned units from their sources."""

from __future__ import annotations

from fulfillments.states import ACCEPTED, CANCELING, NEW, NOT_ALLOWED, WORKABLE, sql
from orders.addresses.countries import spellings
from orders.processing_state import FINISHED

# A line waits as long as some of its units have no stock reserved.
_WAITS = "reserved < quantity - shipped - canceled"
WAITING = f"""
    SELECT 'order line ' || id, coalesce(waiting_since::text, 'nothing'),
        CASE WHEN {_WAITS} THEN 'units without stock' ELSE 'no units without stock' END
    FROM orders_orderline WHERE (waiting_since IS NULL) = ({_WAITS})
"""  # noqa: S608 - built from constants
MEND_WAITING = f"""
    UPDATE orders_orderline l
    SET waiting_since = CASE WHEN {_WAITS} THEN coalesce(o.updated_at, now()) END
    FROM orders_order o WHERE o.id = l.order_id AND (waiting_since IS NULL) = ({_WAITS})
    RETURNING l.order_id
"""  # noqa: S608 - built from constants

HELD = f"""
    SELECT 'order ' || id, 'held', processing_state FROM orders_order
    WHERE held AND processing_state IN ({sql(*FINISHED)})
"""  # noqa: S608 - built from constants
MEND_HELD = f"""
    UPDATE orders_order SET held = false WHERE held AND processing_state IN ({sql(*FINISHED)}) RETURNING id
"""  # noqa: S608 - built from constants

_COUNTRY = "upper(trim(shipping_address->>'country'))"
# Pushes store country codes, but orders of earlier versions have the country in the retailer's spelling.
_SPELLINGS = ", ".join("'" + name.replace("'", "''") + "'" for name in sorted(spellings()))
_KNOWN = f"coalesce({_COUNTRY}, '') IN ({_SPELLINGS})"
_WRONG_COUNTRY = f"processing_state NOT IN ({sql(*FINISHED)}) AND has_unknown_country = ({_KNOWN})"
COUNTRIES = f"""
    SELECT 'order ' || id, CASE WHEN has_unknown_country THEN 'an unknown country' ELSE 'a known country' END,
        coalesce({_COUNTRY}, 'no country')
    FROM orders_order WHERE {_WRONG_COUNTRY}
"""  # noqa: S608 - built from constants
MEND_COUNTRIES = f"""
    UPDATE orders_order SET has_unknown_country = NOT has_unknown_country WHERE {_WRONG_COUNTRY} RETURNING id
"""  # noqa: S608 - built from constants

# Entries of earlier addresses stay, so only missing entries are differences. Erased orders have no entries.
_MISSING_ENTRIES = """
    SELECT e.text, e.order_id, e.kind FROM orders_order o, search_entries_of(o) e
    WHERE o.erased_at IS NULL
        AND NOT EXISTS (SELECT FROM orders_searchentry s WHERE s.text = e.text AND s.order_id = o.id)
"""
SEARCH_ENTRIES = f"""
    SELECT 'order ' || order_id, 'no search entry', kind || ' ' || text FROM ({_MISSING_ENTRIES}) e
"""  # noqa: S608 - built from constants
MEND_SEARCH_ENTRIES = f"""
    INSERT INTO orders_searchentry (text, order_id, kind) {_MISSING_ENTRIES} ON CONFLICT DO NOTHING
"""

# The numbers of returned units that are back in stock. The returns, the events and the stock movements must
# have the same number. Old movements are merged ('system:fold') and then no longer name a fulfillment.
RESTOCKED = """
    SELECT 'variant ' || variant_id || ' of fulfillment ' || fulfillment_id, 'restocked ' || kept,
        'restocked ' || recorded || ' in its events and ' || moved || ' in the ledger'
    FROM (
        SELECT p.fulfillment_id, p.variant_id, coalesce(sum(kept.units), 0) AS kept,
            coalesce(sum(recorded.units), 0) AS recorded, coalesce(max(moved.units), 0) AS moved
        FROM fulfillments_fulfillmentline p
        LEFT JOIN (
            SELECT (item->>'line')::bigint AS line, sum(coalesce((item->>'restocked')::bigint, 0)) AS units
            FROM fulfillments_return r, jsonb_array_elements(r.items) item GROUP BY 1
        ) kept ON kept.line = p.id
        LEFT JOIN (
            SELECT (item->>'line')::bigint AS line, sum((item->>'quantity')::bigint) AS units
            FROM events_event e, jsonb_array_elements(e.data->'items') item
            WHERE e.type = 'fulfillment.restocked' GROUP BY 1
        ) recorded ON recorded.line = p.id
        LEFT JOIN (
            SELECT fulfillment_id, variant_id, sum(moved) AS units
            FROM inventory_stockmovement WHERE kind = 'return' AND order_id IS NOT NULL GROUP BY 1, 2
        ) moved ON moved.fulfillment_id = p.fulfillment_id AND moved.variant_id = p.variant_id
        WHERE p.returned > 0 GROUP BY 1, 2
    ) r
    WHERE kept <> recorded OR kept <> moved AND moved > 0 AND NOT EXISTS (
        SELECT FROM inventory_stockmovement m JOIN fulfillments_fulfillment f ON f.id = r.fulfillment_id
        WHERE m.variant_id = r.variant_id AND m.warehouse_id = f.warehouse_id AND m.actor = 'system:fold'
    )
"""

# A time limit starts with a move or with the release of the order. If an operator changed the partnership
# after the fulfillment was created, the hours of the limit are unknown. Tolerate one minute, because the
# system times of two hosts may differ.
_LIMITS = f"""
    SELECT f.id, f.due_at, f.state IN ({sql(*WORKABLE, CANCELING)}) AS limited, t.changed_at > f.created_at
        AS terms_changed, hours.hours, day.ends, s.starts
    FROM fulfillments_fulfillment f
    JOIN orders_order o ON o.id = f.order_id JOIN accounts_partnership a ON a.id = f.partnership_id
    CROSS JOIN LATERAL (SELECT CASE WHEN f.state IN ({sql(NEW, NOT_ALLOWED)}) THEN a.hours_to_accept
        WHEN f.state = {sql(ACCEPTED)} THEN a.hours_to_ship
        WHEN f.state = {sql(CANCELING)} THEN a.hours_to_answer END * interval '1 hour' AS hours) hours
    CROSS JOIN LATERAL (SELECT CASE WHEN o.ship_until < '9999-12-31' AND f.state IN ({sql(*WORKABLE)})
        THEN (o.ship_until + 1)::timestamp AT TIME ZONE 'UTC' END AS ends) day
    CROSS JOIN LATERAL (
        SELECT array_agg(e.occurred_at ORDER BY e.id DESC) AS starts FROM events_event e
        WHERE e.order_id = f.order_id AND (e.type = 'order.released' OR e.fulfillment_id = f.id
            AND (e.to_state <> '' OR e.type = 'fulfillment.created'))
    ) s
    LEFT JOIN (
        SELECT supplier_id, retailer_id, max(occurred_at) AS changed_at FROM events_event
        WHERE area = 'accounts' AND type = 'partnership.updated' GROUP BY 1, 2
    ) t ON t.supplier_id = f.supplier_id AND t.retailer_id = o.retailer_id
    WHERE f.due_at IS NOT NULL OR f.state IN ({sql(*WORKABLE, CANCELING)})
"""  # noqa: S608 - built from constants
_DUE = f"""
    SELECT id, due_at, CASE WHEN limited THEN least(starts[1] + hours, ends) END AS expected
    FROM ({_LIMITS}) f
    WHERE CASE WHEN NOT limited THEN due_at IS NOT NULL
        WHEN terms_changed THEN ends IS NOT NULL AND (due_at IS NULL OR due_at > ends)
        WHEN hours IS NULL THEN due_at IS DISTINCT FROM ends
        ELSE due_at IS NULL OR due_at > ends OR due_at IS DISTINCT FROM ends AND NOT EXISTS (
            SELECT FROM unnest(starts) start
            WHERE due_at BETWEEN start + hours - interval '1 minute' AND start + hours + interval '1 minute'
        ) END
"""  # noqa: S608 - built from constants
TIME_LIMITS = f"""
    SELECT 'fulfillment ' || id, coalesce(due_at::text, 'no limit'), coalesce(expected::text, 'no limit')
    FROM ({_DUE}) f
"""  # noqa: S608 - built from constants
MEND_TIME_LIMITS = f"""
    UPDATE fulfillments_fulfillment f SET due_at = d.expected, updated_at = clock_timestamp()
    FROM ({_DUE}) d WHERE d.id = f.id
"""  # noqa: S608 - built from constants
