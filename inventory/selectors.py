"""Reading the ledger of stock, newest first, whatever it is narrowed by and however long it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from accounts.models import ApiKey
from catalog.models import Variant
from imports.models import ImportJob
from inventory.models import MovementKind, StockMovement, Warehouse

# The newest of each stretch of the index that holds some of what is asked for; of those, the newest.
NEWEST = """
    SELECT found.* FROM {stretches}, LATERAL (
        SELECT m.* FROM inventory_stockmovement m
        WHERE {of} AND {beyond} AND {narrowed} ORDER BY m.id {direction} LIMIT %(count)s
    ) AS found ORDER BY found.id {direction} LIMIT %(count)s
"""
WAREHOUSES = "unnest(%(warehouses)s::bigint[]) AS w (id)"


@dataclass(frozen=True)
class Movements:
    """What a list of movements is narrowed by; `None` narrows nothing."""

    warehouse_ids: list[int]
    variant_ids: list[int] | None = None
    kind: str | None = None
    order_id: int | None = None

    @classmethod
    def of_supplier(cls, supplier_id: int, asked: dict[str, Any]) -> Movements:
        """Those of a supplier, as a request asks for them; what is not its own finds nothing."""
        warehouses = Warehouse.objects.filter(supplier_id=supplier_id)
        if "warehouse_id" in asked:
            warehouses = warehouses.filter(pk=asked["warehouse_id"])
        variants = None
        if "sku" in asked or "variant_id" in asked:
            own = Variant.objects.filter(supplier_id=supplier_id)
            own = own.filter(sku=asked["sku"]) if "sku" in asked else own
            own = own.filter(pk=asked["variant_id"]) if "variant_id" in asked else own
            variants = list(own.values_list("pk", flat=True))
        return cls(
            list(warehouses.values_list("pk", flat=True)), variants, asked.get("kind"), asked.get("order_id")
        )

    def fetch(self, beyond: object, descending: bool, count: int) -> list[StockMovement]:
        """So many of them beyond an id (or from the end), newest first or last."""
        if beyond is not None and not isinstance(beyond, int):
            raise TypeError("Movements are listed by their number.")
        stretches, of = self._stretches()
        narrowed = ["true"]
        if self.order_id is not None and self.variant_ids is not None:
            narrowed.append("m.variant_id = ANY(%(variants)s)")
        if self.kind is not None and (self.order_id is not None or self.variant_ids is not None):
            narrowed.append("m.kind = %(kind)s")
        statement = NEWEST.format(
            stretches=stretches,
            of=of,
            beyond="true" if beyond is None else f"m.id {'<' if descending else '>'} %(beyond)s",
            narrowed=" AND ".join(narrowed),
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

    def _stretches(self) -> tuple[str, str]:
        """The stretches of the index that answers best, and the condition that a movement is in one."""
        if self.order_id is not None:
            return "(VALUES (1)) AS one", "m.order_id = %(order)s AND m.warehouse_id = ANY(%(warehouses)s)"
        if self.variant_ids is not None:
            variants = "unnest(%(variants)s::bigint[]) AS v (id)"
            return f"{WAREHOUSES} CROSS JOIN {variants}", "m.variant_id = v.id AND m.warehouse_id = w.id"
        kinds = "unnest(%(kinds)s::text[]) AS k (name)"
        return f"{WAREHOUSES} CROSS JOIN {kinds}", "m.warehouse_id = w.id AND m.kind = k.name"


def skus_of(movements: list[StockMovement]) -> dict[int, str]:
    """The skus of what moved."""
    ids = {movement.variant_id for movement in movements}
    return dict(Variant.objects.filter(pk__in=ids).values_list("pk", "sku"))


KEY, IMPORT = re.compile(r"key:(\w+)"), re.compile(r"import:(\d+)")


class Actors:
    """Who moved a supplier's stock, as that supplier reads it: its own keys and imports by their names.

    Of others it hears only what they are. A retailer's key reserves what it orders, and a competitor's, where
    that refuses, sends the order on to here: no key, file or request of theirs is this supplier's business.
    """

    def __init__(self, supplier_id: int, movements: Iterable[StockMovement]) -> None:
        names = {movement.actor for movement in movements}
        prefixes = {found[1] for found in map(KEY.match, names) if found}
        jobs = {found[1] for found in map(IMPORT.fullmatch, names) if found}
        keys = ApiKey.objects.filter(prefix__in=prefixes).values_list("prefix", "supplier_id")
        self._keys = dict(keys) if prefixes else {}
        own = ImportJob.objects.filter(supplier_id=supplier_id, pk__in=jobs).values_list("pk", flat=True)
        self._jobs = {str(pk) for pk in own} if jobs else set()
        self._supplier_id = supplier_id

    def is_own(self, actor: str) -> bool:
        """Whether the supplier did it itself: by a key, or by a file."""
        key, job = KEY.match(actor), IMPORT.fullmatch(actor)
        return bool(key and self._keys.get(key[1]) == self._supplier_id) or bool(job and job[1] in self._jobs)

    def name(self, actor: str) -> str:
        """`key:fxk_… (ERP)` of its own, `system:…`; else `retailer`, `operator` or `system`."""
        if actor.startswith("user:"):
            return "operator"
        key = KEY.match(actor)
        if self.is_own(actor) or not (key or IMPORT.fullmatch(actor)):
            return actor
        return "retailer" if key and self._keys.get(key[1], 0) is None else "system"
