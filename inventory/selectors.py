"""Queries of the stock ledger. Each filter uses an index, so the queries stay fast in a long ledger."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from accounts.models import ApiKey, Member
from catalog.models import Variant
from imports.models import ImportJob
from inventory.models import MovementKind, StockMovement, Warehouse

# Read the first movements of each matching index range, in the requested order. Then sort the
# movements of all ranges, and return the first movements.
NEWEST = """
    SELECT newest.* FROM {ranges}, LATERAL (
        SELECT m.* FROM inventory_stockmovement m
        WHERE {in_range} AND {beyond} AND {filters} ORDER BY m.id {direction} LIMIT %(count)s
    ) AS newest ORDER BY newest.id {direction} LIMIT %(count)s
"""
WAREHOUSES = "unnest(%(warehouses)s::bigint[]) AS w (id)"


@dataclass(frozen=True)
class Movements:
    """The filters of a list of movements; `None` matches every movement."""

    warehouse_ids: list[int]
    variant_ids: list[int] | None = None
    kind: str | None = None
    order_id: int | None = None

    @classmethod
    def of_supplier(cls, supplier_id: int, filters: dict[str, Any]) -> Movements:
        """Return a request's filters for one supplier's movements. Ids of other suppliers match nothing."""
        warehouses = Warehouse.objects.filter(supplier_id=supplier_id)
        if "warehouse_id" in filters:
            warehouses = warehouses.filter(pk=filters["warehouse_id"])
        variants = None
        if "sku" in filters or "variant_id" in filters:
            matching = Variant.objects.filter(supplier_id=supplier_id)
            matching = matching.filter(sku=filters["sku"]) if "sku" in filters else matching
            matching = matching.filter(pk=filters["variant_id"]) if "variant_id" in filters else matching
            variants = list(matching.values_list("pk", flat=True))
        warehouse_ids = list(warehouses.values_list("pk", flat=True))
        return cls(warehouse_ids, variants, filters.get("kind"), filters.get("order_id"))

    def fetch(self, beyond: object, descending: bool, count: int) -> list[StockMovement]:
        """Return up to `count` movements after the id `beyond`, or from the start of the list.

        With `descending`, the newest movements come first, and ids after `beyond` are smaller ids.
        """
        if beyond is not None and not isinstance(beyond, int):
            raise TypeError("The bookmark of a list of movements must be a number.")
        ranges, in_range = self._index_ranges()
        filters = ["true"]
        if self.order_id is not None and self.variant_ids is not None:
            filters.append("m.variant_id = ANY(%(variants)s)")
        if self.kind is not None and (self.order_id is not None or self.variant_ids is not None):
            filters.append("m.kind = %(kind)s")
        statement = NEWEST.format(
            ranges=ranges,
            in_range=in_range,
            beyond="true" if beyond is None else f"m.id {'<' if descending else '>'} %(beyond)s",
            filters=" AND ".join(filters),
            direction="DESC" if descending else "ASC",
        )
        params = {
            "warehouses": self.warehouse_ids,
            "variants": self.variant_ids,
            "kind": self.kind,
            "kinds": [self.kind] if self.kind else list(MovementKind.values),
            "order": self.order_id,
            "beyond": beyond,
            "count": count,
        }
        return list(StockMovement.objects.raw(statement, params))

    def _index_ranges(self) -> tuple[str, str]:
        """Return the FROM item and the condition that make the query read the best index.

        The FROM item has one row per range of the index. The condition selects the movements in a range.
        """
        if self.order_id is not None:
            return "(VALUES (1)) AS one", "m.order_id = %(order)s AND m.warehouse_id = ANY(%(warehouses)s)"
        if self.variant_ids is not None:
            variants = "unnest(%(variants)s::bigint[]) AS v (id)"
            return f"{WAREHOUSES} CROSS JOIN {variants}", "m.variant_id = v.id AND m.warehouse_id = w.id"
        kinds = "unnest(%(kinds)s::text[]) AS k (name)"
        return f"{WAREHOUSES} CROSS JOIN {kinds}", "m.warehouse_id = w.id AND m.kind = k.name"


def skus_of(movements: list[StockMovement]) -> dict[int, str]:
    """Return the skus of the movements' variants, by variant id."""
    ids = {movement.variant_id for movement in movements}
    return dict(Variant.objects.filter(pk__in=ids).values_list("pk", "sku"))


OF_PARTY, IMPORT = re.compile(r"key:\w+|member:\d+"), re.compile(r"import:(\d+)")


class Actors:
    """The actors of stock movements, as one supplier may see them.

    The supplier sees its own keys, members and imports by name. The names, files and requests of other
    actors stay hidden. For example, a retailer's key reserves stock when it pushes an
    order, and a competitor's key reserves stock when it rejects units that are then routed to this supplier.
    """

    def __init__(self, supplier_id: int, movements: Iterable[StockMovement]) -> None:
        names = {movement.actor for movement in movements}
        self._suppliers = _suppliers_of({match[0] for match in map(OF_PARTY.match, names) if match})
        jobs = {match[1] for match in map(IMPORT.fullmatch, names) if match}
        own = ImportJob.objects.filter(supplier_id=supplier_id, pk__in=jobs).values_list("pk", flat=True)
        self._jobs = {str(pk) for pk in own} if jobs else set()
        self._supplier_id = supplier_id

    def is_own(self, actor: str) -> bool:
        """Return whether the actor is the supplier's own key, member or import."""
        of_party, job = OF_PARTY.match(actor), IMPORT.fullmatch(actor)
        if of_party:
            return self._suppliers.get(of_party[0]) == self._supplier_id
        return bool(job and job[1] in self._jobs)

    def name(self, actor: str) -> str:
        """Return the name under which the supplier sees an actor.

        Its own keys, members and imports, and `system:…`, are unchanged. Operators become `operator`,
        retailers `retailer`, and other suppliers `system`.
        """
        if actor.startswith("user:"):
            return "operator"
        of_party = OF_PARTY.match(actor)
        if self.is_own(actor) or not (of_party or IMPORT.fullmatch(actor)):
            return actor
        return "retailer" if of_party and self._suppliers.get(of_party[0], 0) is None else "system"


def _suppliers_of(actors: Collection[str]) -> dict[str, int | None]:
    """Return the supplier ids of `key:…` and `member:…` actors; None for the actors of retailers."""
    prefixes = [name.removeprefix("key:") for name in actors if name.startswith("key:")]
    members = [name.removeprefix("member:") for name in actors if name.startswith("member:")]
    suppliers: dict[str, int | None] = {}
    if prefixes:
        keys = ApiKey.objects.filter(prefix__in=prefixes).values_list("prefix", "supplier_id")
        suppliers |= {f"key:{prefix}": supplier for prefix, supplier in keys}
    if members:
        found = Member.objects.filter(pk__in=members).values_list("pk", "supplier_id")
        suppliers |= {f"member:{pk}": supplier for pk, supplier in found}
    return suppliers
