"""Warnings about pushed lines with a `variant_id` that contradicts the sku or the upc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.models import Retailer
from catalog.models import Variant

Line = Mapping[str, Any]


def misnamed(retailer: Retailer, lines: Sequence[Line]) -> list[str]:
    """Return a warning for each sku and upc that differs from the variant of the line's `variant_id`.

    Without a warning about the ignored sku, the wrong goods could be shipped. Variants that the retailer
    cannot sell get no warning, because a warning would reveal the sku and the upc to a retailer that guesses
    ids. Makes at most one query.
    """
    numbers = {line["variant_id"] for line in lines if line.get("variant_id") and _names(line)}
    if not numbers:
        return []
    variants = Variant.objects.for_retailer(retailer).only("sku", "upc").in_bulk(numbers)
    return [
        f"order_lines[{index}].{name}: variant {line['variant_id']} has {_quoted(variants, line, name)}, "
        f"not {given[:40]!r}; the variant_id was used."
        for index, line in enumerate(lines)
        if line.get("variant_id") in variants
        for name, given in _names(line).items()
        if given != getattr(variants[line["variant_id"]], name)
    ]


def _names(line: Line) -> dict[str, str]:
    return {name: line[name] for name in ("sku", "upc") if line.get(name)}


def _quoted(variants: Mapping[int, Variant], line: Line, name: str) -> str:
    value = getattr(variants[line["variant_id"]], name)
    return f"{name} {value[:40]!r}" if value else f"no {name}"
