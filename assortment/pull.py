"""The pull (interface endpoint 14): a retailer's variant groups, supplier by supplier, in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from accounts.models import Retailer, ServiceType
from assortment import selectors
from assortment.partners import Partner, changed_terms, partners_of
from assortment.prefetcher import Prefetcher
from assortment.serializers import GroupJson, gone_json, groups_json
from catalog.snapshot import Snapshot

CHUNK = 1000
"""The number of groups that one statement reads. The next statement runs while these groups are written."""


class Position(NamedTuple):
    """The position of the last group that a pull has read."""

    supplier_id: int
    key: str


START = Position(0, "")


class Chunk(NamedTuple):
    """Groups of one supplier, and their keys."""

    supplier_id: int
    keys: list[str]
    groups: list[GroupJson]

    def with_positions(self) -> Iterator[tuple[Position, GroupJson]]:
        return zip((Position(self.supplier_id, key) for key in self.keys), self.groups, strict=True)


@dataclass(frozen=True)
class ListedGroups:
    """All listed groups of one supplier."""

    partner: Partner

    @property
    def supplier_id(self) -> int:
        return self.partner.supplier_id

    def read(self, after: str, chunk: int) -> Iterator[Chunk]:
        """Yield the groups after a key, with one chunk in memory at a time.

        A client that reads a second chunk will probably read more. Therefore each later chunk is prefetched.
        """
        known = self.partner.supplier_id, self.partner.safety_stock
        rows = selectors.groups_behind(*known, after=after, most=chunk)
        yield _chunk(rows, self.partner)
        if len(rows) < chunk:
            return
        with Prefetcher() as prefetcher:
            submit = partial(selectors.groups_to_come, prefetcher, *known, most=chunk)
            to_come = submit(after=rows[-1].key)
            while len(rows) == chunk:
                rows = to_come()
                if len(rows) == chunk:
                    to_come = submit(after=rows[-1].key)
                yield _chunk(rows, self.partner)


@dataclass(frozen=True)
class ChangedGroups:
    """The changed groups of one supplier.

    If the partnership has ended, `partner` is None, and all groups are shown as gone.
    """

    supplier_id: int
    keys: str
    params: Mapping[str, object]
    partner: Partner | None = None

    def read(self, after: str, chunk: int) -> Iterator[Chunk]:
        """Yield the changed groups after a key, with one chunk in memory at a time."""
        known = {**self.params, "supplier": self.supplier_id, "suppliers": [self.supplier_id]}
        more = True
        while more:
            keys = selectors.keys_of(self.keys, known, after=after, most=chunk)
            yield self._groups(keys)
            more = len(keys) == chunk
            after = keys[-1] if more else ""

    def _groups(self, keys: list[str]) -> Chunk:
        """Return the groups of these keys.

        A group without listed variants is shown as gone, unless a twin of the group is listed.
        """
        listed = self._listed(keys)
        gone = [key for key in keys if key not in listed]
        if gone and self.partner is not None:
            gone = selectors.without_twins(self.supplier_id, gone)
        groups = listed | {key: gone_json(key, self.supplier_id) for key in gone}
        shown = [key for key in keys if key in groups]
        return Chunk(self.supplier_id, shown, [groups[key] for key in shown])

    def _listed(self, keys: list[str]) -> dict[str, GroupJson]:
        if self.partner is None or not keys:
            return {}
        rows = selectors.groups_among(self.supplier_id, self.partner.safety_stock, keys)
        chunk = _chunk(rows, self.partner)
        return dict(zip(chunk.keys, chunk.groups, strict=True))


def _chunk(rows: list[selectors.GroupRow], partner: Partner) -> Chunk:
    groups = groups_json(rows, partner)
    return Chunk(partner.supplier_id, [row.key for row in rows], groups)


class Pull:
    """The groups that a retailer may sell for a service type: all, or only the changes since a snapshot."""

    def __init__(self, retailer: Retailer, service_type: ServiceType) -> None:
        self.retailer, self.service_type = retailer, service_type
        self.partners = partners_of(retailer, service_type)

    def read(self, since: Snapshot | None, after: Position = START, chunk: int = CHUNK) -> Generator[Chunk]:
        """Yield the groups after a position, chunk by chunk."""
        for source in self._sources(since):
            if source.supplier_id >= after.supplier_id:
                begin = after.key if source.supplier_id == after.supplier_id else ""
                yield from source.read(begin, chunk)

    def changed(self, since: Snapshot) -> bool:
        """Return whether a group or a term has changed since the snapshot."""
        terms = changed_terms(self.retailer, self.service_type, self.partners, since)
        if terms.suppliers or terms.lost:
            return True
        known = {
            **selectors.unseen_by(since),
            "suppliers": [partner.supplier_id for partner in self.partners],
        }
        return bool(selectors.keys_of(selectors.CHANGED, known, after="", most=1))

    def _sources(self, since: Snapshot | None) -> Sequence[ListedGroups | ChangedGroups]:
        if since is None:
            return [ListedGroups(partner) for partner in self.partners]
        terms = changed_terms(self.retailer, self.service_type, self.partners, since)
        unseen = selectors.unseen_by(since)
        sources = []
        for partner in self.partners:
            whole = partner.supplier_id in terms.suppliers
            keys = selectors.LISTED_OR_DEPARTED if whole else selectors.CHANGED
            sources.append(ChangedGroups(partner.supplier_id, keys, unseen, partner))
        for supplier_id, until in terms.lost.items():
            params = {**unseen, "until": until}
            sources.append(ChangedGroups(supplier_id, selectors.FORMERLY_LISTED, params))
        return sorted(sources, key=lambda source: source.supplier_id)
