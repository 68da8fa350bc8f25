"""The mappings that a file can be read by: those of the service, and the supplier's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Supplier
from imports.models import Kind, SavedMapping
from imports.shop_exports import BUILT_IN, recognise


@dataclass(frozen=True)
class Choice:
    """A mapping by name, and whether a file's header is what it is made for."""

    name: str
    title: str
    fits: bool


def choices(supplier: Supplier, header: Sequence[str]) -> list[Choice]:
    """All that a supplier may name, those first that fit the header."""
    surely = recognise(header)
    found = [Choice(each.name, each.title, each is surely) for each in BUILT_IN.values()]
    own = SavedMapping.objects.filter(supplier=supplier, kind=Kind.PRODUCTS)
    found += [Choice(each.name, each.name, _fits(each, header)) for each in own]
    return sorted(found, key=lambda each: not each.fits)


def suggested(supplier: Supplier, header: Sequence[str]) -> str:
    """The name of the mapping that fits: the supplier's own before the service's. Empty where none does."""
    fitting = [each.name for each in choices(supplier, header) if each.fits]
    return next((name for name in fitting if name not in BUILT_IN), next(iter(fitting), ""))


def _fits(saved: SavedMapping, header: Sequence[str]) -> bool:
    """Whether the file has all columns that the mapping cannot do without, and at least one that it names."""
    names = {name.casefold() for name in header}
    entries = saved.options.get("field_mapping", [])
    present = [entry["source"].casefold() in names for entry in entries]
    needed = [each for each, entry in zip(present, entries, strict=True) if not entry.get("optional")]
    return any(present) and all(needed)
