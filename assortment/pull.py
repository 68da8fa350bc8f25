"""The pull (endpoint 14): one retailer's variant groups, supplier by supplier, in a stable order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from accounts.models import Retailer, ServiceType
from assortment import queries
from assortment.partners import Partner, changed_terms, partners_of
from assortment.serializers import GroupJson, gone_json, group_json
from catalog.pulse import Snapshot

CHUNK = 500
"""Groups that are in memory at once."""


class Position(NamedTuple):
    """Where a pull stands: behind this group of this supplier."""

    supplier_id: int
    key: str


START = Position(0, "")
Placed = tuple[Position, GroupJson]


@dataclass(frozen=True)
class Source:
    """One supplier's part of a pull: the query that lists its keys, and what the retailer sees of them."""

    supplier_id: int
    keys: str
    params: Mapping[str, Any] = field(default_factory=dict)
    partner: Partner | None = None

    def read(self, after: str, chunk: int) -> Iterator[Placed]:
        """Its groups behind a key, a chunk in memory at a time."""
        known = {**self.params, "suppliers": [self.supplier_id]}
        while keys := queries.keys_of(self.keys, known, after=after, most=chunk):
            yield from self._groups(keys)
            after = keys[-1]

    def _groups(self, keys: list[str]) -> Iterator[Placed]:
        """The groups of these keys. One that has nothing listed any more is told as gone."""
        groups = self._listed(keys)
        gone = [key for key in keys if key not in groups]
        if gone and self.partner is not None:
            gone = queries.without_twins(self.supplier_id, gone)
        groups |= {key: gone_json(key, self.supplier_id) for key in gone}
        for key in keys:
            if key in groups:
                yield Position(self.supplier_id, key), groups[key]

    def _listed(self, keys: list[str]) -> dict[str, GroupJson]:
        if self.partner is None:
            return {}
        rows = queries.groups_of(self.supplier_id, self.partner.safety_stock, keys)
        count = self.partner.retailers_count
        return {row.key: group_json(row, self.supplier_id, count) for row in rows}


class Pull:
    """What a retailer may sell under a service type: all of it, or what changed since a snapshot."""

    def __init__(self, retailer: Retailer, service_type: ServiceType) -> None:
        self.retailer, self.service_type = retailer, service_type
        self.partners = partners_of(retailer, service_type)

    def read(self, since: Snapshot | None, after: Position = START, chunk: int = CHUNK) -> Iterator[Placed]:
        """The groups behind a position, each with its own."""
        for source in self._sources(since):
            if source.supplier_id >= after.supplier_id:
                begin = after.key if source.supplier_id == after.supplier_id else ""
                yield from source.read(begin, chunk)

    def changed(self, since: Snapshot) -> bool:
        """Whether a reader who had seen that snapshot would see anything else now."""
        terms = changed_terms(self.retailer, self.service_type, self.partners, since)
        if terms.suppliers or terms.lost:
            return True
        known = {**queries.unseen_by(since), "suppliers": [each.supplier_id for each in self.partners]}
        return bool(queries.keys_of(queries.CHANGED, known, after="", most=1))

    def _sources(self, since: Snapshot | None) -> list[Source]:
        if since is None:
            return [Source(each.supplier_id, queries.LISTED, partner=each) for each in self.partners]
        terms = changed_terms(self.retailer, self.service_type, self.partners, since)
        unseen = queries.unseen_by(since)
        sources = [
            Source(
                each.supplier_id,
                queries.LISTED_OR_DEPARTED if each.supplier_id in terms.suppliers else queries.CHANGED,
                unseen,
                partner=each,
            )
            for each in self.partners
        ]
        sources += [
            Source(supplier_id, queries.FORMERLY_LISTED, {**unseen, "until": until})
            for supplier_id, until in terms.lost.items()
        ]
        return sorted(sources, key=lambda source: source.supplier_id)
