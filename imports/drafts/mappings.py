"""The mappings that a person can choose for a file: built-in ones and the supplier's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Supplier
from imports.models import SavedMapping
from imports.shop_exports import BUILT_IN, recognise


@dataclass(frozen=True)
class MappingChoice:
    """A mapping to choose, and whether it fits the file's header."""

    name: str
    title: str
    fits: bool


def choices(supplier: Supplier, header: Sequence[str]) -> list[MappingChoice]:
    """Return all mappings that the supplier may use, fitting ones first."""
    recognised = recognise(header)
    found = [MappingChoice(each.name, each.title, each is recognised) for each in BUILT_IN.values()]
    own = SavedMapping.objects.filter(supplier=supplier)
    found += [MappingChoice(each.name, each.name, _fits(each, header)) for each in own]
    return sorted(found, key=lambda each: not each.fits)


def suggested(supplier: Supplier, header: Sequence[str]) -> str:
    """Return the name of a fitting mapping, the supplier's own first, or an empty text."""
    fitting = [each.name for each in choices(supplier, header) if each.fits]
    return next((name for name in fitting if name not in BUILT_IN), next(iter(fitting), ""))


def _fits(saved: SavedMapping, header: Sequence[str]) -> bool:
    """Return whether the file has all required columns of the mapping, and at least one of its columns."""
    names = {name.casefold() for name in header}
    entries = saved.options.get("field_mapping", [])
    present = [entry["source"].casefold() in names for entry in entries]
    needed = [each for each, entry in zip(present, entries, strict=True) if not entry.get("optional")]
    return any(present) and all(needed)
