"""What the event feed answers (contract 9 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from accounts.scopes import Role
from api.renderers import iso
from events.models import Event

PIECES = ("items", "dropped")
"""Where the data of an order's events names pieces of lines."""


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
    data: dict[str, Any] = event.data
    lists = [name for name in PIECES if data.get(name)]
    if event.order_id is None or not lists:
        return data
    if reader == Role.SUPPLIER:
        return {**data, **{name: [_without(item, "order_line") for item in data[name]] for name in lists}}
    own = "line" if event.fulfillment_id is None else "order_line"  # an order's event has only its own lines
    return {**data, **{name: [_of_order_line(item, own) for item in data[name]] for name in lists}}


def _of_order_line(item: Mapping[str, Any], own: str) -> dict[str, Any]:
    named = {"order_line_id": item[own]} if own in item else {}
    return named | _without(item, "line", "order_line")


def _without(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}
