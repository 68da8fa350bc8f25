"""What parcels, refusals and returns hold, as operators read it: so many of each sku."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fulfillments.models import Fulfillment, FulfillmentLine, Rejection, Return, Shipment


@dataclass(frozen=True)
class Content:
    """So many pieces of what was agreed upon as `sku`; of those so many went back into stock."""

    sku: str
    quantity: int
    restocked: int


@dataclass(frozen=True)
class Opened:
    """A parcel, a refusal or a return, with its fulfillment and what is in it."""

    fulfillment: Fulfillment
    record: Shipment | Rejection | Return
    contents: list[Content]


def opened(fulfillments: Iterable[Fulfillment], name: str) -> Iterator[Opened]:
    """All `shipments`, `rejections` or `returns` of fulfillments, with what is in each.

    Takes no query where these and the lines are prefetched.
    """
    for fulfillment in fulfillments:
        lines = {line.pk: line for line in fulfillment.lines.all()}
        for record in getattr(fulfillment, name).all():
            yield Opened(fulfillment, record, _contents(record, lines))


def _contents(record: Shipment | Rejection | Return, lines: dict[int, FulfillmentLine]) -> list[Content]:
    return [
        Content(lines[item["line"]].sku, item["quantity"], item.get("restocked", 0))
        for item in record.items
        if item["line"] in lines
    ]
