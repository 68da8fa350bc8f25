"""SQL that recomputes fulfillments' states from events and units, and retailers' clocks from stamps."""

from __future__ import annotations

from fulfillments.states import (
    ACCEPTED,
    CANCELING,
    NEW,
    NOT_ALLOWED,
    REQUEST_CANCELATION,
    SHIPPED,
    WRONG_ADDRESS,
    State,
    sql,
)

# The final states. A fulfillment has open units if and only if its state is not final.
DONE = sql(State.SHIPPED, State.OUT_OF_STOCK, State.MISSING_SKU, State.CANCELED)


def _fits(state: str) -> str:
    """Return SQL that is true if the units of the fulfillment allow this state."""
    return f"""({state} IN ({DONE})) = (open = 0) AND ({state} <> {sql(SHIPPED)} OR shipped > 0)
        AND ({state} NOT IN ({DONE}) OR {state} = {sql(SHIPPED)} OR shipped = 0)"""


# A fulfillment's state has three sources: the stored state, the state of the last event, and the units. Two
# sources that agree win against one. If the units allow both states, only a later state replaces the stored
# state. A last event with an earlier state proves nothing, because a later event may be lost.
HISTORIES = f"""
    SELECT id, order_id, stored, recorded, CASE
        WHEN stored = recorded OR NOT ({_fits("recorded")}) THEN stored
        WHEN NOT ({_fits("stored")}) OR open = 0 THEN recorded
        WHEN {sql(CANCELING)} IN (stored, recorded)
            THEN CASE WHEN asked = (recorded = {sql(CANCELING)}) THEN recorded ELSE stored END
        WHEN stored = {sql(NEW)} AND recorded IN ({sql(ACCEPTED, NOT_ALLOWED, WRONG_ADDRESS)}) THEN recorded
        ELSE stored END AS state
    FROM (
        SELECT f.id, f.order_id, f.state AS stored, coalesce(e.to_state, {sql(NEW)}) AS recorded,
            p.open, p.shipped, p.asked > 0 OR f.state_before_cancel <> '' AS asked
        FROM fulfillments_fulfillment f JOIN (
            SELECT fulfillment_id, sum(quantity - shipped - rejected - canceled) AS open,
                sum(shipped) AS shipped, sum(cancel_requested) AS asked
            FROM fulfillments_fulfillmentline GROUP BY 1
        ) p ON p.fulfillment_id = f.id
        LEFT JOIN LATERAL (
            SELECT to_state FROM events_event e
            WHERE e.order_id = f.order_id AND e.fulfillment_id = f.id AND e.to_state <> ''
            ORDER BY e.id DESC LIMIT 1
        ) e ON true
    ) f
"""  # noqa: S608 - built from constants
STATES_OF_FULFILLMENTS = f"""
    SELECT 'fulfillment ' || id, stored, CASE WHEN state <> stored THEN state
        ELSE recorded || ', but its units do not prove that' END
    FROM ({HISTORIES}) f WHERE stored <> recorded
"""  # noqa: S608 - built from constants
MEND_STATES = f"""
    UPDATE fulfillments_fulfillment f SET state = h.state, updated_at = clock_timestamp()
    FROM ({HISTORIES}) h WHERE h.id = f.id AND h.stored <> h.state RETURNING f.order_id
"""  # noqa: S608 - built from constants

MISFITS = f"""
    SELECT 'fulfillment ' || id, state, open || ' open units' FROM (
        SELECT f.id, f.state, sum(p.quantity - p.shipped - p.rejected - p.canceled) AS open
        FROM fulfillments_fulfillment f JOIN fulfillments_fulfillmentline p ON p.fulfillment_id = f.id
        GROUP BY f.id
    ) f WHERE (state IN ({DONE})) <> (open = 0)
"""  # noqa: S608 - built from constants

# The state of a fulfillment before the first cancellation request that its supplier has not answered.
BEFORE_CANCEL = f"""
    SELECT f.id, f.order_id, f.state_before_cancel AS stored, CASE WHEN f.state <> {sql(CANCELING)} THEN ''
        ELSE coalesce(e.from_state, f.state_before_cancel) END AS state
    FROM fulfillments_fulfillment f LEFT JOIN LATERAL (
        SELECT from_state FROM events_event e
        WHERE e.order_id = f.order_id AND e.fulfillment_id = f.id AND e.type = '{REQUEST_CANCELATION.event}'
            AND e.from_state <> {sql(CANCELING)}
        ORDER BY e.id DESC LIMIT 1
    ) e ON true
    WHERE f.state = {sql(CANCELING)} OR f.state_before_cancel <> ''
"""  # noqa: S608 - built from constants
STATES_BEFORE_CANCEL = f"""
    SELECT 'fulfillment ' || id, coalesce(nullif(stored, ''), 'no state'),
        coalesce(nullif(state, ''), 'no state')
    FROM ({BEFORE_CANCEL}) f WHERE stored <> state
"""  # noqa: S608 - built from constants
MEND_BEFORE_CANCEL = f"""
    UPDATE fulfillments_fulfillment f SET state_before_cancel = b.state
    FROM ({BEFORE_CANCEL}) b WHERE b.id = f.id AND b.stored <> b.state
"""  # noqa: S608 - built from constants

# The clocks that are behind the stamps of their retailers' orders. Such a clock would give stamps that
# pollers have already passed.
LATE_CLOCKS = """
    SELECT c.retailer_id, c.last, max(o.updated_at) AS stamped
    FROM orders_retailerclock c JOIN orders_order o ON o.retailer_id = c.retailer_id
    GROUP BY c.retailer_id HAVING max(o.updated_at) > c.last
"""
CLOCKS = f"""
    SELECT 'retailer ' || retailer_id, last, 'an order is stamped ' || stamped FROM ({LATE_CLOCKS}) c
"""  # noqa: S608 - built from constants
MEND_CLOCKS = f"""
    UPDATE orders_retailerclock c SET last = t.stamped
    FROM ({LATE_CLOCKS}) t WHERE t.retailer_id = c.retailer_id
"""  # noqa: S608 - built from constants

# An order without a stamp is a difference, because no poller would ever see the order.
UNSTAMPED = "SELECT id FROM orders_order WHERE updated_at IS NULL"
STAMPS = f"SELECT 'order ' || id, 'no stamp', 'a change' FROM ({UNSTAMPED}) o"  # noqa: S608 - built from constants
