"""The content of parcels, rejections and returns for operators: the quantity of each sku."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from fulfillments.models import Fulfillment, FulfillmentLine, KeptParcel, Rejection, Return, Shipment

ITEMIZED = ("shipments", "kept_parcels", "rejections", "returns")
"""The relations of a fulfillment to its records that have units."""
Itemized = Shipment | KeptParcel | Rejection | Return


@dataclass(frozen=True)
class SkuQuantity:
    """The units of one sku, and the number of these units that went back into stock."""

    sku: str
    quantity: int
    restocked: int


@dataclass(frozen=True)
class ItemizedRecord:
    """A parcel, kept parcel, rejection or return, with its fulfillment and its content."""

    fulfillment: Fulfillment
    record: Itemized
    contents: list[SkuQuantity]

    @property
    def number(self) -> str:
        """The supplier's own id of a rejection or return; empty for parcels."""
        record = self.record
        number = record.reject_id if isinstance(record, Rejection) else getattr(record, "return_id", None)
        return number or ""

    @property
    def at(self) -> datetime:
        record = self.record
        if isinstance(record, Rejection):
            return record.rejected_at
        return record.returned_at if isinstance(record, Return) else record.shipped_at


def itemize(fulfillments: Iterable[Fulfillment], name: str) -> Iterator[ItemizedRecord]:
    """Yield the records of one kind of these fulfillments, each with its units by sku.

    `name` is the kind, an element of `ITEMIZED`. Makes no query if the records and the lines are prefetched.
    """
    for fulfillment in fulfillments:
        lines = {line.pk: line for line in fulfillment.lines.all()}
        for record in getattr(fulfillment, name).all():
            yield ItemizedRecord(fulfillment, record, contents_of(record, lines))


def contents_of(record: Itemized, lines: dict[int, FulfillmentLine]) -> list[SkuQuantity]:
    """Return the content of a record. `lines` has the fulfillment's lines by id."""
    return [
        SkuQuantity(lines[item["line"]].sku, item["quantity"], item.get("restocked", 0))
        for item in record.items
        if item["line"] in lines
    ]
