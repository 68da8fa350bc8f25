"""All that became of an order, or of one fulfillment, as people read it: one list, in names and skus.

It joins what was recorded as events (by API calls, files, people and the service itself) with first captures
and the movements of stock. A fixed number of queries, whatever has happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from events.models import Event
from events.recording import PIECES
from events.timeline import LONGEST, in_words
from fulfillments.models import Capture, FulfillmentLine
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
    found = [
        *_events(narrowed, lines, own),
        *_captures(narrowed),
        *_movements(narrowed, skus),
    ]
    # Of one request: first what was done, then what it did to stock, which is written before.
    begun: dict[str, datetime] = {}
    for entry in found:
        begun[entry.request_id] = min(begun.get(entry.request_id, entry.at), entry.at)
    begun.pop("", None)
    found.sort(key=lambda entry: (begun.get(entry.request_id, entry.at), entry.about != "event"))
    return found[:LONGEST], len(found) > LONGEST


def _events(narrowed: Mapping[str, Any], lines: Mapping[int, str], own: Mapping[int, str]) -> Iterator[Entry]:
    for event in Event.objects.filter(**narrowed).order_by("id")[: LONGEST + 1]:
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
        if isinstance(value, list) and name in {*PIECES, "waiting", "lines"}:
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
