"""Pieces of a fulfillment's lines: as callers name them, as events keep them, as messages say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from api.errors import Invalid
from catalog.models import Variant
from fulfillments.models.line import FulfillmentLine

Quantities = Mapping[int, int]
"""Pieces by the id of a fulfillment's line."""


def as_items(quantities: Quantities) -> list[dict[str, int]]:
    return [{"line": line, "quantity": quantity} for line, quantity in sorted(quantities.items()) if quantity]


def order_items(quantities: Quantities) -> list[dict[str, int]]:
    """Pieces by the id of an order's line, as events of orders keep them."""
    return [
        {"order_line_id": line, "quantity": quantity} for line, quantity in quantities.items() if quantity
    ]


def check_within(
    lines: list[FulfillmentLine],
    quantities: Quantities,
    limit: Callable[[FulfillmentLine], int],
    word: str,
    field: str,
) -> None:
    """Raise Invalid at that field where a line is not this fulfillment's, or less of it is there."""
    known = {line.pk: line for line in lines}
    for pk, quantity in quantities.items():
        if pk not in known:
            raise Invalid.at(field, f"{pk} is not a line of this fulfillment; it has {sorted(known)}.")
        if quantity > limit(known[pk]):
            name = f"line {pk} ({known[pk].sku})"
            raise Invalid.at(field, f"{name} has {limit(known[pk])} pieces {word}, {quantity} are too many.")


def spread(
    lines: list[FulfillmentLine],
    items: Sequence[Mapping[str, Any]],
    room: Callable[[FulfillmentLine], int],
    path: str,
) -> Quantities:
    """Items named by sku, upc or ean as pieces by line; several lines of one variant are filled in turn.

    Raises Invalid, naming the item below `path`, for what is not among the lines.
    """
    quantities: dict[int, int] = {}
    called = _Names(lines)
    for index, item in enumerate(items):
        name = next(each for each in ("sku", "upc", "ean") if item.get(each))
        matching = called(name, item[name])
        if not matching:
            known = ", ".join(sorted(each or "(none)" for each in called.known(name)))
            message = f"{item[name]} is not in this fulfillment; its lines have {known}."
            raise Invalid.at(f"{path}[{index}].{name}", message, "not_found")
        left = int(item["quantity"])
        for line in matching:
            taken = min(left, max(room(line) - quantities.get(line.pk, 0), 0))
            quantities[line.pk] = quantities.get(line.pk, 0) + taken
            left -= taken
        quantities[matching[-1].pk] += left  # too many: the move says so, with the numbers
    return {line: quantity for line, quantity in quantities.items() if quantity}


class _Names:
    """Lines by what they are called: as agreed, else as their variants are called by now."""

    def __init__(self, lines: list[FulfillmentLine]) -> None:
        self._lines = lines
        self._agreed: dict[str, dict[str, list[FulfillmentLine]]] = {}
        self._now: dict[str, dict[str, list[FulfillmentLine]]] = {}

    def __call__(self, name: str, value: str) -> list[FulfillmentLine]:
        return self._by_agreed(name).get(value) or self._by_now(name).get(value, [])

    def known(self, name: str) -> Collection[str]:
        """What they are called by this name."""
        return self._by_agreed(name) or self._by_now(name)

    def _by_agreed(self, name: str) -> dict[str, list[FulfillmentLine]]:
        if name not in self._agreed:
            # Nothing is agreed about an ean: the line has none.
            named = ((getattr(line, name), line) for line in self._lines if hasattr(line, name))
            self._agreed[name] = _grouped(named)
        return self._agreed[name]

    def _by_now(self, name: str) -> dict[str, list[FulfillmentLine]]:
        if name not in self._now:
            variants = Variant.objects.filter(pk__in={line.variant_id for line in self._lines})
            names: dict[int, str] = dict(variants.values_list("pk", name))
            self._now[name] = _grouped((names[line.variant_id], line) for line in self._lines)
        return self._now[name]


def _grouped(named: Iterable[tuple[str, FulfillmentLine]]) -> dict[str, list[FulfillmentLine]]:
    groups: dict[str, list[FulfillmentLine]] = {}
    for name, line in named:
        groups.setdefault(name, []).append(line)
    return groups


def by_variant(lines: list[FulfillmentLine], quantities: Quantities) -> Counter[int]:
    """Pieces by variant: what a parcel holds, whichever lines it was counted on."""
    variants = {line.pk: line.variant_id for line in lines}
    total: Counter[int] = Counter()
    for line, quantity in quantities.items():
        total[variants.get(line, 0)] += quantity
    return total


def in_words(lines: list[FulfillmentLine], quantities: Quantities) -> str:
    """`2 of line 7 (LAMP), 1 of line 8 (MAT)`."""
    skus = {line.pk: line.sku for line in lines}
    named = (f"{pieces} of line {line} ({skus.get(line, '')})" for line, pieces in sorted(quantities.items()))
    return ", ".join(named) or "nothing"
