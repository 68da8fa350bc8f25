"""SQL that recomputes fulfillments' states from events, and retailers' clocks from stamps."""

from __future__ import annotations

from fulfillments.states import State, sql

# A fulfillment is in the target state of its last move.
HISTORIES = f"""
    SELECT f.id, f.order_id, f.state AS stored, coalesce(e.to_state, {sql(State.NEW)}) AS state
    FROM fulfillments_fulfillment f LEFT JOIN LATERAL (
        SELECT to_state FROM events_event e
        WHERE e.order_id = f.order_id AND e.fulfillment_id = f.id AND e.to_state <> ''
        ORDER BY e.id DESC LIMIT 1
    ) e ON true
"""  # noqa: S608 - built from constants
MEND_STATES = f"""
    UPDATE fulfillments_fulfillment f SET state = h.state, updated_at = clock_timestamp()
    FROM ({HISTORIES}) h WHERE h.id = f.id AND h.stored <> h.state RETURNING f.order_id
"""  # noqa: S608 - built from constants

# A fulfillment has open units if and only if its state is not a final one.
DONE = sql(State.SHIPPED, State.OUT_OF_STOCK, State.MISSING_SKU, State.CANCELED)
MISFITS = f"""
    SELECT f.id, f.state, sum(p.quantity - p.shipped - p.rejected - p.canceled) AS open
    FROM fulfillments_fulfillment f JOIN fulfillments_fulfillmentline p ON p.fulfillment_id = f.id
    GROUP BY f.id
    HAVING (f.state IN ({DONE})) <> (sum(p.quantity - p.shipped - p.rejected - p.canceled) = 0)
"""  # noqa: S608 - built from constants

# A clock that is behind would give stamps that pollers have already passed.
CLOCKS = """
    SELECT c.retailer_id, c.last, max(o.updated_at) AS stamped
    FROM orders_retailerclock c JOIN orders_order o ON o.retailer_id = c.retailer_id
    GROUP BY c.retailer_id HAVING max(o.updated_at) > c.last
"""
MEND_CLOCKS = f"""
    UPDATE orders_retailerclock c SET last = t.stamped FROM ({CLOCKS}) t WHERE t.retailer_id = c.retailer_id
"""  # noqa: S608 - built from constants

# No poller would ever see an order without a stamp.
UNSTAMPED = "SELECT id FROM orders_order WHERE updated_at IS NULL"
