"""What the event feed answers (contract 9 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from accounts.scopes import Role
from api.renderers import iso
from events.models import Event
from events.recording import OPERATOR_REASON, PIECES


class EventJson(TypedDict):
    """What happened. `id` is its place in the feed: give the last one back as `after`."""

    id: int
    type: str
    occurred_at: str
    order_id: NotRequired[int]
    fulfillment_id: NotRequired[int]
    import_id: NotRequired[int]
    data: dict[str, Any]


class EventsJson(TypedDict):
    """A stretch of the feed, ascending; `next` is null at its present end."""

    results: list[EventJson]
    next: str | None


def event_json(event: Event, reader: Role) -> EventJson:
    """An event as a supplier or a retailer reads it; they name pieces by the lines that they know."""
    assert event.number is not None  # the feed holds what has been numbered
    body: EventJson = {
        "id": event.number,
        "type": event.type,
        "occurred_at": iso(event.occurred_at),
        "data": _data_json(event, reader),
    }
    if event.order_id is not None:
        body["order_id"] = event.order_id
    if event.fulfillment_id is not None:
        body["fulfillment_id"] = event.fulfillment_id
    if event.import_id is not None:
        body["import_id"] = event.import_id
    return body


def _data_json(event: Event, reader: Role) -> dict[str, Any]:
    """Suppliers know their fulfillments' lines (`line`), retailers their orders' (`order_line_id`)."""
    data: dict[str, Any] = _without(OPERATOR_REASON, event.data)
    if event.order_id is None:
        return data
    pieces = {name: data[name] for name in PIECES if data.get(name)}
    if reader == Role.SUPPLIER:
        named = {name: [_without("order_line_id", item) for item in items] for name, items in pieces.items()}
    else:
        own = event.fulfillment_id is None  # an order's event: its `line` is the order's
        named = {name: [_of_order(item, own=own) for item in items] for name, items in pieces.items()}
    return data | named


def _of_order(item: Mapping[str, Any], *, own: bool) -> dict[str, Any]:
    named = {"order_line_id": item["line"]} if own and "line" in item else {}
    return named | _without("line", item)


def _without(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return {each: value for each, value in item.items() if each != name}
