"""Answers of the event feed (contract 9 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from accounts.scopes import Role
from api.openapi.shapes import ShapesByType
from api.renderers import iso
from events.data_types import DATA_TYPES
from events.models import Event
from events.recording import FOR_OPERATORS, UNIT_LISTS


class EventJson(TypedDict):
    """One event. `id` is its number in the feed. Send the last `id` as `after` to continue."""

    id: int
    type: str
    occurred_at: str
    order_id: NotRequired[int]
    fulfillment_id: NotRequired[int]
    import_id: NotRequired[int]
    data: Annotated[dict[str, Any], ShapesByType(DATA_TYPES)]


class EventsJson(TypedDict):
    """A page of the feed, oldest first. `next` is null at the current end."""

    results: list[EventJson]
    next: str | None


def event_json(event: Event, reader: Role) -> EventJson:
    """Return an event as JSON for a supplier or a retailer, with the line ids of that reader."""
    assert event.number is not None  # the feed contains only numbered events
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


def _data_json(event: Event, reader: Role) -> dict[str, object]:
    """Return the data with the reader's line ids: `line` of a fulfillment or `order_line_id` of an order."""
    data = {name: value for name, value in event.data.items() if name not in FOR_OPERATORS}
    if event.order_id is None:
        return data
    listed = {name: data[name] for name in UNIT_LISTS if data.get(name)}
    if reader == Role.SUPPLIER:
        shown = {name: [_without("order_line_id", unit) for unit in units] for name, units in listed.items()}
    else:
        of_order = event.fulfillment_id is None  # in such an event, `line` is the id of an order line
        shown = {name: [_for_retailer(unit, of_order) for unit in units] for name, units in listed.items()}
    return data | shown


def _for_retailer(unit: Mapping[str, object], of_order: bool) -> dict[str, object]:
    line = {"order_line_id": unit["line"]} if of_order and "line" in unit else {}
    return line | _without("line", unit)


def _without(dropped: str, values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name != dropped}
