"""The mappings that a person can choose for a file: the built-in mappings and the supplier's own mappings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Supplier
from imports.models import SavedMapping
from imports.shop_exports import BUILT_IN, recognise


@dataclass(frozen=True)
class MappingChoice:
    """A mapping that a person can choose, and whether it fits the file's header."""

    name: str
    title: str
    fits: bool


def choices(supplier: Supplier, header: Sequence[str]) -> list[MappingChoice]:
    """Return all mappings that the supplier may use. Mappings that fit the header come first."""
    recognised = recognise(header)
    found = [MappingChoice(each.name, each.title, each is recognised) for each in BUILT_IN.values()]
    own = SavedMapping.objects.filter(supplier=supplier)
    found += [MappingChoice(each.name, each.name, _fits(each, header)) for each in own]
    return sorted(found, key=lambda each: not each.fits)


def suggested(supplier: Supplier, header: Sequence[str]) -> str:
    """Return the name of a mapping that fits, or an empty text. Prefer the supplier's own mappings."""
    fitting = [each.name for each in choices(supplier, header) if each.fits]
    return next((name for name in fitting if name not in BUILT_IN), next(iter(fitting), ""))


def _fits(saved: SavedMapping, header: Sequence[str]) -> bool:
    """Return whether the header has every required column of the mapping.

    If all columns are optional, at least one of them must be present.
    """
    names = {name.casefold() for name in header}
    entries = saved.options.get("field_mapping", [])
    present = [entry["source"].casefold() in names for entry in entries]
    needed = [each for each, entry in zip(present, entries, strict=True) if not entry.get("optional")]
    return any(present) and all(needed)
