"""Pieces of a fulfillment's lines: as callers name them, as events keep them, as messages say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from api.errors import Invalid
from fulfillments.models.line import FulfillmentLine

Quantities = Mapping[int, int]
"""Pieces by the id of a fulfillment's line."""


def as_items(quantities: Quantities) -> list[dict[str, int]]:
    return [{"line": line, "quantity": quantity} for line, quantity in sorted(quantities.items()) if quantity]


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
            name = f"line {pk} ({known[pk].variant.sku})"
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
    for index, item in enumerate(items):
        name = next(each for each in ("sku", "upc", "ean") if item.get(each))
        matching = [line for line in lines if getattr(line.variant, name) == item[name]]
        if not matching:
            known = ", ".join(sorted({getattr(line.variant, name) or "(none)" for line in lines}))
            message = f"{item[name]} is not in this fulfillment; its lines have {known}."
            raise Invalid.at(f"{path}[{index}].{name}", message, "not_found")
        left = int(item["quantity"])
        for line in matching:
            taken = min(left, max(room(line) - quantities.get(line.pk, 0), 0))
            quantities[line.pk] = quantities.get(line.pk, 0) + taken
            left -= taken
        quantities[matching[-1].pk] += left  # too many: the move says so, with the numbers
    return {line: quantity for line, quantity in quantities.items() if quantity}


def by_variant(lines: list[FulfillmentLine], quantities: Quantities) -> Counter[int]:
    """Pieces by variant: what a parcel holds, whichever lines it was counted on."""
    variants = {line.pk: line.variant_id for line in lines}
    total: Counter[int] = Counter()
    for line, quantity in quantities.items():
        total[variants.get(line, 0)] += quantity
    return total


def in_words(lines: list[FulfillmentLine], quantities: Quantities) -> str:
    """`2 of line 7 (LAMP), 1 of line 8 (MAT)`."""
    skus = {line.pk: line.variant.sku for line in lines}
    named = (f"{pieces} of line {line} ({skus.get(line, '')})" for line, pieces in sorted(quantities.items()))
    return ", ".join(named) or "nothing"
