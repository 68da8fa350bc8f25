"""The timeline of an order or of one fulfillment, with names and skus instead of ids.

The timeline joins events (of API calls, files, people and the service itself) with first captures, routing
decisions, stock movements, and deliveries to partners' webhooks. The number of queries is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Q

from accounts.models import Supplier, member_names
from events.models import Delivery, Event, Webhook
from events.recording import UNIT_LISTS
from events.timeline import LONGEST, HistoryEntry, actor_name, in_words, remark_entries
from fulfillments.models import Capture, Fulfillment, FulfillmentLine, RoutingDecision
from inventory.models import MovementKind, StockMovement, Warehouse

MOVEMENTS = {
    MovementKind.RESERVE.value: "reserved",
    MovementKind.RELEASE.value: "released",
    MovementKind.SHIP.value: "shipped",
    MovementKind.REFUSE.value: "set to 0",
    MovementKind.RETURN.value: "returned",
}
ONE_TRANSACTION = timedelta(seconds=10)
DELIVERIES = {"waiting": "waiting", "delivered": "delivered", "dead": "given up"}


def order_timeline(
    order_id: int, lines: Mapping[int, str], fulfillment_id: int | None = None
) -> tuple[list[HistoryEntry], bool]:
    """Return the newest entries, oldest first, and whether older entries exist beyond the limit.

    `lines` has the names of the order's lines by id. With a `fulfillment_id`, return only
    the entries of this fulfillment.
    """
    narrowed = {"order_id": order_id}
    if fulfillment_id is not None:
        narrowed["fulfillment_id"] = fulfillment_id
    routed = FulfillmentLine.objects.filter(
        **{f"fulfillment__{name}" if name == "order_id" else name: value for name, value in narrowed.items()}
    )
    columns = routed.values_list("pk", "sku", "variant_id", "fulfillment_id")
    names, of_fulfillments = {}, {fulfillment_id}
    for pk, sku, variant_id, of_fulfillment in columns:
        names[pk] = (sku, variant_id)
        of_fulfillments.add(of_fulfillment)
    subjects = [(Fulfillment._meta.label_lower, pk) for pk in of_fulfillments if pk is not None]
    if fulfillment_id is None:
        subjects.append(("orders.order", order_id))
    skus = {variant_id: sku for sku, variant_id in names.values()}
    fulfillment_lines = {pk: sku for pk, (sku, _) in names.items()}
    events = list(Event.objects.filter(**narrowed).order_by("-id")[: LONGEST + 1])[::-1]
    people = member_names({event.actor for event in events})
    entries = [
        *event_entries(events, lines, fulfillment_lines, people),
        *([] if fulfillment_id else _decisions(order_id, lines, events)),
        *_captures(narrowed),
        *_movements(narrowed, skus, people),
        *_deliveries(events),
        *remark_entries(subjects),
    ]
    entries = _in_order(entries)
    return entries[-LONGEST:], len(entries) > LONGEST


def _in_order(entries: list[HistoryEntry]) -> list[HistoryEntry]:
    """Sort the entries by time, but keep the entries of one request together, events first. Fill in `began`.

    Stock movements are written before their event. A client may send all its requests with the same id, so
    entries with the same id belong together only if they are close in time.
    """
    starts: dict[str, datetime] = {}
    placed: list[tuple[datetime, bool, HistoryEntry]] = []
    for entry in sorted(entries, key=_placed_at):
        start = starts.get(entry.request_id) if entry.request_id else None
        if start is None or _placed_at(entry) - start > ONE_TRANSACTION:
            start = starts[entry.request_id] = _placed_at(entry)
        placed.append((start, entry.about != "event", replace(entry, began=start)))
    return [entry for *_, entry in sorted(placed, key=lambda place: place[:2])]


def _placed_at(entry: HistoryEntry) -> datetime:
    return entry.began or entry.at


def event_entries(
    events: list[Event],
    lines: Mapping[int, str],
    fulfillment_lines: Mapping[int, str],
    names: Mapping[str, str],
) -> Iterator[HistoryEntry]:
    """Yield an entry for each event, with the names of lines and of members."""
    for event in events:
        by, key = actor_name(event.actor, names)
        subject, _, verb = event.type.partition(".")
        yield HistoryEntry(
            at=event.occurred_at,
            title=f"{subject} {verb.replace('_', ' ')}".capitalize(),
            by=by,
            key=key,
            request_id=event.request_id,
            type=event.type,
            fulfillment_id=event.fulfillment_id,
            from_state=event.from_state,
            to_state=event.to_state,
            details=[*_details(event, lines, fulfillment_lines)],
        )


def _details(
    event: Event, lines: Mapping[int, str], fulfillment_lines: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    for name, value in event.data.items():
        if isinstance(value, list) and name in {*UNIT_LISTS, "waiting", "lines"}:
            named = fulfillment_lines if event.fulfillment_id is not None else lines
            text = ", ".join(_item(each, named, lines) for each in value if isinstance(each, dict))
        else:
            text = in_words(value)
        if text:
            yield ("units" if name == "items" else name.replace("_", " ")), text


def _item(item: Mapping[str, object], named: Mapping[int, str], lines: Mapping[int, str]) -> str:
    """Return text such as `2 × LAN-1`, with the name of the fulfillment line, or else of the order line."""
    line, order_line = item.get("line"), item.get("order_line_id", item.get("id"))
    name = named.get(line, "") if isinstance(line, int) else ""
    if not name and isinstance(order_line, int):
        name = lines.get(order_line, "")
    return f"{item.get('quantity', '')} × {name or 'a deleted line'}"


def _decisions(order_id: int, lines: Mapping[int, str], events: list[Event]) -> Iterator[HistoryEntry]:
    """Yield the routing decisions, without reasons. Each entry gets the request id of the nearest event."""
    decisions = list(RoutingDecision.objects.filter(order_id=order_id).order_by("-id")[:LONGEST])
    chosen = [
        [(line, one) for line in each.lines for one in line["candidates"] if one["quantity"]]
        for each in decisions
    ]
    suppliers = Supplier.objects.in_bulk({one["supplier_id"] for each in chosen for _, one in each})
    for decision, allocations in zip(decisions, chosen, strict=True):
        units = ", ".join(
            f"{one['quantity']} × {lines.get(line['line_id'])} to {suppliers.get(one['supplier_id'])}"
            for line, one in allocations
        )
        unfilled = sum(line["unfilled"] for line in decision.lines)
        details = [("units", units or "none routed")]
        if unfilled:
            details.append(("unrouted", str(unfilled)))
        yield HistoryEntry(
            at=decision.decided_at,
            title="Routed",
            by="the service (routing)",
            request_id=_request_at(decision.decided_at, events),
            details=details,
            about="routing",
        )


def _request_at(moment: datetime, events: list[Event]) -> str:
    """Return the request id of the nearest event, or an empty text if no event is within ten seconds.

    A decision has no request id, but it is written in one transaction with its event.
    """
    nearest = min(events, key=lambda event: abs(event.occurred_at - moment), default=None)
    near = nearest is not None and abs(nearest.occurred_at - moment) < ONE_TRANSACTION
    return nearest.request_id if nearest and near else ""


def _deliveries(events: list[Event]) -> Iterator[HistoryEntry]:
    """Yield the deliveries to partners' webhooks that are still stored."""
    types = {event.number: event.type for event in events if event.number is not None}
    causes = {event.number: event for event in events}
    suppliers = {event.supplier_id for event in events if event.supplier_id}
    retailers = {event.retailer_id for event in events if event.retailer_id}
    of_parties = Q(supplier__in=suppliers) | Q(retailer__in=retailers)
    webhooks = {
        webhook.pk: webhook
        for webhook in Webhook.objects.filter(of_parties).select_related("supplier", "retailer")
        if types
    }
    deliveries = Delivery.objects.filter(webhook__in=[*webhooks], event__in=[*types]).order_by("-id")
    for delivery in deliveries[:LONGEST] if webhooks else ():
        webhook = webhooks[delivery.webhook_id]
        answer = delivery.last_error or (f"HTTP {delivery.last_status}" if delivery.last_status else "")
        details = [("event", types[delivery.event_id]), ("to", webhook.url), ("answer", answer)]
        if delivery.attempts > 1:
            details.append(("attempts", str(delivery.attempts)))
        yield HistoryEntry(
            delivery.attempted_at or delivery.next_attempt_at or delivery.expires_at,
            f"Webhook {DELIVERIES[delivery.status]}",
            f"the service, to {webhook.party}",
            request_id=causes[delivery.event_id].request_id,
            details=[(name, text) for name, text in details if text],
            about="webhook",
            began=causes[delivery.event_id].occurred_at,
        )


def _captures(narrowed: Mapping[str, int]) -> Iterator[HistoryEntry]:
    captures = Capture.objects.select_related("fulfillment__supplier")
    captures = captures.filter(
        **{"fulfillment__order_id" if name == "order_id" else name: value for name, value in narrowed.items()}
    )
    for capture in captures:
        by = str(capture.fulfillment.supplier)
        yield HistoryEntry(capture.captured_at, "First captured", by, fulfillment_id=capture.fulfillment_id)


def _movements(
    narrowed: Mapping[str, int], skus: Mapping[int, str], names: Mapping[str, str]
) -> Iterator[HistoryEntry]:
    """Yield the stock movements. Movements of one request with the same kind and cause make one entry."""
    moved = StockMovement.objects.filter(order_id=narrowed["order_id"]).order_by("-id")
    if "fulfillment_id" in narrowed:
        moved = moved.filter(fulfillment_id=narrowed["fulfillment_id"])
    movements = list(moved[: LONGEST + 1])[::-1]
    warehouses = Warehouse.objects.in_bulk({movement.warehouse_id for movement in movements})
    for group in _grouped(movements):
        kind, warehouse_id, fulfillment_id, actor, reason, _ = _cause(group[0])
        units = ", ".join(
            f"{max(abs(each.on_hand_change), abs(each.reserved_change))} × "
            f"{skus.get(each.variant_id, f'variant {each.variant_id}')}"
            for each in group
        )
        by, key = actor_name(actor, names)
        warehouse = warehouses.get(warehouse_id)
        details = [("units", units), ("warehouse", str(warehouse) if warehouse else "")]
        if reason and reason != kind:
            details.append(("why", reason))
        yield HistoryEntry(
            group[-1].occurred_at,
            f"Stock {MOVEMENTS.get(kind, kind)}",
            by,
            key,
            group[0].request_id,
            fulfillment_id=fulfillment_id,
            details=details,
            about="stock",
        )


def _grouped(movements: list[StockMovement]) -> Iterator[list[StockMovement]]:
    """Yield groups of consecutive movements that have the same cause and are close in time."""
    group: list[StockMovement] = []
    for movement in movements:
        if group and (
            _cause(movement) != _cause(group[-1])
            or movement.occurred_at - group[-1].occurred_at > ONE_TRANSACTION
        ):
            yield group
            group = []
        group.append(movement)
    if group:
        yield group


def _cause(movement: StockMovement) -> tuple[str, int, int | None, str, str, str]:
    return (
        movement.kind,
        movement.warehouse_id,
        movement.fulfillment_id,
        movement.actor,
        movement.reason,
        movement.request_id,
    )
