"""The content of parcels, rejections and returns for operators: the quantity of each sku."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fulfillments.models import Fulfillment, FulfillmentLine, Rejection, Return, Shipment


@dataclass(frozen=True)
class SkuQuantity:
    """The units of one sku, and how many of them went back into stock."""

    sku: str
    quantity: int
    restocked: int


@dataclass(frozen=True)
class ItemizedRecord:
    """A parcel, rejection or return, with its fulfillment and its content."""

    fulfillment: Fulfillment
    record: Shipment | Rejection | Return
    contents: list[SkuQuantity]


def itemize(fulfillments: Iterable[Fulfillment], name: str) -> Iterator[ItemizedRecord]:
    """Yield all `shipments`, `rejections` or `returns` of fulfillments with their content.

    Makes no query if the records and the lines are prefetched.
    """
    for fulfillment in fulfillments:
        lines = {line.pk: line for line in fulfillment.lines.all()}
        for record in getattr(fulfillment, name).all():
            yield ItemizedRecord(fulfillment, record, _contents(record, lines))


def _contents(record: Shipment | Rejection | Return, lines: dict[int, FulfillmentLine]) -> list[SkuQuantity]:
    return [
        SkuQuantity(lines[item["line"]].sku, item["quantity"], item.get("restocked", 0))
        for item in record.items
        if item["line"] in lines
    ]
