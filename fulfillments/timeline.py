"""All that became of an order, or of one fulfillment, as people read it: one list, in names and skus.

It joins what was recorded as events (by API calls, files, people and the service itself) with first captures,
routing, the movements of stock, and what was sent to partners' webhooks. A fixed number of queries, whatever
has happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import Q

from accounts.models import Supplier
from events.models import Delivery, Event, Webhook
from events.recording import UNIT_LISTS
from events.timeline import LONGEST, in_words
from fulfillments.models import Capture, FulfillmentLine, RoutingDecision
from inventory.models import MovementKind, StockMovement, Warehouse

BY_KEY = re.compile(r"key:(\S+) \((.*)\)")

# What moved stock, in words.
MOVED = {
    MovementKind.RESERVE.value: "set aside",
    MovementKind.RELEASE.value: "given back",
    MovementKind.SHIP.value: "taken out of stock",
    MovementKind.REFUSE.value: "counted as none",
    MovementKind.RETURN.value: "back in stock",
}
SENT = {"waiting": "to be sent", "delivered": "taken", "dead": "given up"}


@dataclass(frozen=True)
class Entry:
    """One thing that happened: when, what, by whom, and the rest in words."""

    at: datetime
    title: str
    by: str = ""
    key: str = ""
    request_id: str = ""
    type: str = ""
    fulfillment_id: int | None = None
    from_state: str = ""
    to_state: str = ""
    details: list[tuple[str, str]] = field(default_factory=list)
    about: str = "event"


def story(
    order_id: int, lines: Mapping[int, str], fulfillment_id: int | None = None
) -> tuple[list[Entry], bool]:
    """What happened, oldest first, and whether it was more than is shown.

    `lines` are what the order's own lines are called, by their ids.
    """
    narrowed: dict[str, Any] = {"order_id": order_id}
    if fulfillment_id is not None:
        narrowed["fulfillment_id"] = fulfillment_id
    placed = FulfillmentLine.objects.filter(
        **{f"fulfillment__{name}" if name == "order_id" else name: value for name, value in narrowed.items()}
    )
    names = {pk: (sku, variant_id) for pk, sku, variant_id in placed.values_list("pk", "sku", "variant_id")}
    skus = {variant_id: sku for sku, variant_id in names.values()}
    own = {pk: sku for pk, (sku, _) in names.items()}
    events = list(Event.objects.filter(**narrowed).order_by("id")[: LONGEST + 1])
    found = [
        *_events(events, lines, own),
        *([] if fulfillment_id else _decisions(order_id, lines, events)),
        *_captures(narrowed),
        *_movements(narrowed, skus),
        *_deliveries(events),
    ]
    # Of one request: first what was done, then what it did to stock, which is written before.
    begun: dict[str, datetime] = {}
    for entry in found:
        begun[entry.request_id] = min(begun.get(entry.request_id, entry.at), entry.at)
    begun.pop("", None)
    found.sort(key=lambda entry: (begun.get(entry.request_id, entry.at), entry.about != "event"))
    return found[:LONGEST], len(found) > LONGEST


def _events(events: list[Event], lines: Mapping[int, str], own: Mapping[int, str]) -> Iterator[Entry]:
    for event in events:
        by, key = called(event.actor)
        subject, _, what = event.type.partition(".")
        yield Entry(
            at=event.occurred_at,
            title=f"{subject} {what.replace('_', ' ')}".capitalize(),
            by=by,
            key=key,
            request_id=event.request_id,
            type=event.type,
            fulfillment_id=event.fulfillment_id,
            from_state=event.from_state,
            to_state=event.to_state,
            details=[*_details(event, lines, own)],
        )


def _details(event: Event, lines: Mapping[int, str], own: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    for name, value in event.data.items():
        if isinstance(value, list) and name in {*UNIT_LISTS, "waiting", "lines"}:
            named = own if event.fulfillment_id is not None else lines
            text = ", ".join(_piece(each, named, lines) for each in value if isinstance(each, dict))
        else:
            text = in_words(value)
        if text:
            yield ("pieces" if name == "items" else name.replace("_", " ")), text


def _piece(item: Mapping[str, Any], named: Mapping[int, str], lines: Mapping[int, str]) -> str:
    """`2 × LAN-1`, by a fulfillment's line, or else by the order's."""
    own, of_order = item.get("line"), item.get("order_line_id", item.get("id"))
    name = named.get(own, "") if isinstance(own, int) else ""
    if not name and isinstance(of_order, int):
        name = lines.get(of_order, "")
    return f"{item.get('quantity', '')} × {name or 'a line that is gone'}"


def _decisions(order_id: int, lines: Mapping[int, str], events: list[Event]) -> Iterator[Entry]:
    """Where routing sent what; why, the page says elsewhere.

    The first is of the request that made the order.
    """
    decisions = list(RoutingDecision.objects.filter(order_id=order_id).order_by("id")[:LONGEST])
    chosen = [
        [(line, one) for line in each.lines for one in line["candidates"] if one["quantity"]]
        for each in decisions
    ]
    suppliers = Supplier.objects.in_bulk({one["supplier_id"] for each in chosen for _, one in each})
    for decision, taken in zip(decisions, chosen, strict=True):
        pieces = ", ".join(
            f"{one['quantity']} × {lines.get(line['line_id'])} to {suppliers.get(one['supplier_id'])}"
            for line, one in taken
        )
        unfilled = sum(line["unfilled"] for line in decision.lines)
        details = [("pieces", pieces or "nobody takes any")]
        if unfilled:
            details.append(("with nobody", str(unfilled)))
        of_push = events[0].request_id if events and decision is decisions[0] else ""
        yield Entry(
            at=decision.decided_at,
            title="Routed",
            by="the service (routing)",
            request_id=of_push,
            details=details,
            about="routing",
        )


def _deliveries(events: list[Event]) -> Iterator[Entry]:
    """What partners' own addresses were sent of it, as far as it is kept."""
    types = {event.number: event.type for event in events if event.number is not None}
    suppliers = {event.supplier_id for event in events if event.supplier_id}
    retailers = {event.retailer_id for event in events if event.retailer_id}
    of_parties = Q(supplier__in=suppliers) | Q(retailer__in=retailers)
    webhooks = {
        each.pk: each
        for each in Webhook.objects.filter(of_parties).select_related("supplier", "retailer")
        if types
    }
    sent = Delivery.objects.filter(webhook__in=[*webhooks], event__in=[*types]).order_by("id")
    for each in sent[:LONGEST] if webhooks else ():
        webhook = webhooks[each.webhook_id]
        answer = each.last_error or (f"HTTP {each.last_status}" if each.last_status else "")
        about = [("event", types[each.event_id]), ("to", webhook.url), ("answer", answer)]
        if each.attempts > 1:
            about.append(("attempts", str(each.attempts)))
        yield Entry(
            each.attempted_at or each.next_attempt_at or each.expires_at,
            f"Webhook {SENT[each.status]}",
            f"the service, to {webhook.party}",
            details=[(name, text) for name, text in about if text],
            about="webhook",
        )


def _captures(narrowed: Mapping[str, Any]) -> Iterator[Entry]:
    captures = Capture.objects.select_related("fulfillment__supplier")
    captures = captures.filter(
        **{"fulfillment__order_id" if name == "order_id" else name: each for name, each in narrowed.items()}
    )
    for capture in captures:
        by = str(capture.fulfillment.supplier)
        yield Entry(capture.captured_at, "First captured", by, fulfillment_id=capture.fulfillment_id)


def _movements(narrowed: Mapping[str, Any], skus: Mapping[int, str]) -> Iterator[Entry]:
    """Those of one moment and kind together."""
    moved = StockMovement.objects.filter(order_id=narrowed["order_id"]).order_by("id")
    if "fulfillment_id" in narrowed:
        moved = moved.filter(fulfillment_id=narrowed["fulfillment_id"])
    movements = list(moved[: LONGEST + 1])
    places = Warehouse.objects.in_bulk({each.warehouse_id for each in movements})
    for (kind, warehouse_id, fulfillment_id, actor, reason), together in groupby(movements, _together):
        group = list(together)
        pieces = ", ".join(
            f"{max(abs(each.on_hand_change), abs(each.reserved_change))} × "
            f"{skus.get(each.variant_id, f'variant {each.variant_id}')}"
            for each in group
        )
        by, key = called(actor)
        place = places.get(warehouse_id)
        details = [("pieces", pieces), ("warehouse", str(place) if place else "")]
        if reason and reason != kind:
            details.append(("why", reason))
        yield Entry(
            group[-1].occurred_at,
            f"Stock {MOVED.get(kind, kind)}",
            by,
            key,
            group[0].request_id,
            fulfillment_id=fulfillment_id,
            details=details,
            about="stock",
        )


def _together(movement: StockMovement) -> tuple[str, int, int | None, str, str]:
    return (
        movement.kind,
        movement.warehouse_id,
        movement.fulfillment_id,
        movement.actor,
        movement.reason,
    )


def called(actor: str) -> tuple[str, str]:
    """Who did it, by name, and the beginning of the key that was used."""
    match = BY_KEY.fullmatch(actor)
    if match:
        return match[2], match[1]
    kind, _, name = actor.partition(":")
    return {"user": name, "system": f"the service ({name})"}.get(kind, actor), ""
