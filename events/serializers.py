"""What the event feed answers (contract 9 and 12)."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from api.renderers import iso
from events.models import Event


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


def event_json(event: Event) -> EventJson:
    assert event.number is not None  # the feed holds what has been numbered
    body: EventJson = {
        "id": event.number,
        "type": event.type,
        "occurred_at": iso(event.occurred_at),
        "data": event.data,
    }
    if event.order_id is not None:
        body["order_id"] = event.order_id
    if event.fulfillment_id is not None:
        body["fulfillment_id"] = event.fulfillment_id
    if event.import_id is not None:
        body["import_id"] = event.import_id
    return body
