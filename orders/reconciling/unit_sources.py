"""SQL that recomputes the units of fulfillments' lines from three sources.

Parcels, rejections and returns are the first source, events are the second, and the line itself is the third.
Two sources that agree win against one. If all three differ, the line stays unchanged, and the difference is
reported.
"""

from __future__ import annotations

from fulfillments.states import (
    APPROVE_CANCELATION,
    CANCELING,
    CORRECTED,
    REJECT_OUT_OF_STOCK,
    REQUEST_CANCELATION,
    SHIP,
    WITHDRAW,
)


def units(items: str, table: str, where: str = "true") -> str:
    """Return SQL that sums the units by fulfillment line.

    `items` is the column of `table` with the items of parcels, rejections, returns or events.
    """
    return f"""
        SELECT (item->>'line')::bigint AS line, sum((item->>'quantity')::bigint) AS units
        FROM {table} k, jsonb_array_elements({items}) item WHERE {where} GROUP BY 1
    """  # noqa: S608 - built from constants


def _of_events(*types: str) -> str:
    names = ", ".join(f"'{each}'" for each in types)
    return units("k.data->'items'", "events_event", f"k.type IN ({names})")


# Canceled units have no table of their own. Their first source is the order line, which has the sum of all
# its fulfillment lines.
CANCELED_BY_ORDER_LINE = """
    SELECT p.id AS line, l.canceled - l.dropped - others.canceled + p.canceled AS units
    FROM fulfillments_fulfillmentline p JOIN orders_orderline l ON l.id = p.order_line_id
    JOIN (SELECT order_line_id, sum(canceled) AS canceled FROM fulfillments_fulfillmentline GROUP BY 1) others
        ON others.order_line_id = l.id
"""
SOURCES = {
    "shipped": (units("k.items", "fulfillments_shipment"), _of_events(SHIP.event)),
    "rejected": (
        units("k.items", "fulfillments_rejection"),
        _of_events(REJECT_OUT_OF_STOCK.event, WITHDRAW.event),
    ),
    "canceled": (CANCELED_BY_ORDER_LINE, _of_events(APPROVE_CANCELATION.event)),
    "returned": (units("k.items", "fulfillments_return"), _of_events("fulfillment.returned")),
}
UNIT_COLUMNS = tuple(SOURCES)
_JOINS = " ".join(
    f"LEFT JOIN ({rows}) {name}_kept ON {name}_kept.line = p.id"
    f" LEFT JOIN ({events}) {name}_recorded ON {name}_recorded.line = p.id"
    for name, (rows, events) in SOURCES.items()
)


def _kept(name: str) -> str:
    return f"coalesce({name}_kept.units, 0)"


def _recorded(name: str) -> str:
    return f"coalesce({name}_recorded.units, 0)"


def _winner(name: str) -> str:
    return f"CASE WHEN {_kept(name)} = {_recorded(name)} THEN {_recorded(name)} ELSE p.{name} END AS {name}"


FULFILLMENT_LINES = f"""
    SELECT p.id, {", ".join(map(_winner, SOURCES))} FROM fulfillments_fulfillmentline p {_JOINS}
"""  # noqa: S608 - built from constants
_DISAGREEING = " UNION ALL ".join(
    f"""
    SELECT p.id, '{name} ' || p.{name} AS stored,
        '{name} ' || {_kept(name)} || ' in its {kept} and ' || {_recorded(name)} || ' in its events'
            AS sources
    FROM fulfillments_fulfillmentline p
    LEFT JOIN ({SOURCES[name][0]}) {name}_kept ON {name}_kept.line = p.id
    LEFT JOIN ({SOURCES[name][1]}) {name}_recorded ON {name}_recorded.line = p.id
    WHERE {_kept(name)} <> {_recorded(name)}
    """  # noqa: S608 - built from constants
    for name, kept in {
        "shipped": "parcels",
        "rejected": "rejections",
        "canceled": "order line",
        "returned": "returns",
    }.items()
)
DISAGREEING = f"SELECT 'fulfillment line ' || id, stored, sources FROM ({_DISAGREEING}) d"  # noqa: S608
"""The lines for which the first two sources differ. Only parcels are repaired, by RESTORE_PARCELS."""

# If a parcel is missing or damaged, but the line and the event agree, restore the parcel from the event.
RESTORE_PARCELS = f"""
    WITH damaged AS (
        SELECT DISTINCT p.fulfillment_id FROM fulfillments_fulfillmentline p
        LEFT JOIN ({SOURCES["shipped"][0]}) shipped_kept ON shipped_kept.line = p.id
        LEFT JOIN ({SOURCES["shipped"][1]}) shipped_recorded ON shipped_recorded.line = p.id
        WHERE {_kept("shipped")} <> p.shipped AND {_recorded("shipped")} = p.shipped
    ), recorded AS (
        SELECT e.fulfillment_id, e.occurred_at, last.data->>'tracking_number' AS tracking_number,
            coalesce(last.data->>'carrier', '') AS carrier, e.data->'items' AS items
        FROM events_event e JOIN damaged d ON d.fulfillment_id = e.fulfillment_id, LATERAL (
            SELECT l.data FROM events_event l WHERE l.order_id = e.order_id
                AND l.fulfillment_id = e.fulfillment_id AND (l.id = e.id
                    OR l.type = '{CORRECTED}' AND l.data->>'shipped_as' = e.data->>'tracking_number')
            ORDER BY l.id DESC LIMIT 1
        ) last
        WHERE e.type = '{SHIP.event}'
    ), parcels AS (
        SELECT fulfillment_id, occurred_at, tracking_number, carrier, (
            SELECT jsonb_agg(jsonb_build_object('line', item->'line', 'quantity', item->'quantity'))
            FROM jsonb_array_elements(items) item
        ) AS items
        FROM recorded
    )
    INSERT INTO fulfillments_shipment (fulfillment_id, tracking_number, carrier, shipped_at, items)
    SELECT fulfillment_id, tracking_number, carrier, occurred_at, items FROM parcels
    ON CONFLICT (fulfillment_id, tracking_number) DO UPDATE SET items = excluded.items
"""  # noqa: S608 - built from constants

# The units that the supplier is asked to release: the units of the last request without an answer.
REQUESTED = f"""
    SELECT p.id, coalesce(k.units, 0) AS cancel_requested FROM fulfillments_fulfillmentline p LEFT JOIN (
        SELECT (item->>'line')::bigint AS line, (item->>'quantity')::bigint AS units
        FROM fulfillments_fulfillment f, LATERAL (
            SELECT e.data->'items' AS items FROM events_event e
            WHERE e.order_id = f.order_id AND e.fulfillment_id = f.id
                AND e.type = '{REQUEST_CANCELATION.event}'
            ORDER BY e.id DESC LIMIT 1
        ) k, jsonb_array_elements(k.items) item WHERE f.state = '{CANCELING}'
    ) k ON k.line = p.id
"""  # noqa: S608 - built from constants
