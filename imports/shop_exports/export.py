"""The format of a shop system's export."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# The value of `relative_urls` for pictures whose base URL is unknown.
LEAVE_OUT = "leave_out"


@dataclass(frozen=True)
class ShopExport:
    """A built-in mapping for the product export of a shop system."""

    # The id is smaller than the ids of all mappings that suppliers save, so the ids never clash.
    id: int
    name: str
    title: str
    # Sets of column names in lower case. A header with all columns of one set belongs to this export.
    signatures: tuple[frozenset[str], ...]
    field_mapping: tuple[dict[str, Any], ...]
    rows: Mapping[str, object] = field(default_factory=dict)
    # Column names in lower case. A header with one of these names does not belong to this export.
    unlike: frozenset[str] = frozenset()

    @property
    def options(self) -> dict[str, Any]:
        return {"field_mapping": list(self.field_mapping), "math_transformer": "", "rows": dict(self.rows)}

    def has_header(self, header: Collection[str]) -> bool:
        """Return whether a header in lower case belongs to this export."""
        names = set(header)
        return not self.unlike & names and any(signature <= names for signature in self.signatures)


@dataclass(frozen=True)
class StockExport:
    """The format of a shop system's stock export: a row or a column for each location."""

    name: str
    title: str
    # Column names in lower case. No other file has all of these columns.
    signature: frozenset[str]
    id_field: str
    # Columns of the quantity; the first present column counts.
    amount_fields: tuple[str, ...]
    location_field: str
    # Other columns, in lower case. In a file without a location column, all remaining columns are locations.
    other_fields: frozenset[str]
    # Texts, in lower case, that replace the quantity if the location does not stock the variant.
    not_stocked: frozenset[str]
    rows: Mapping[str, object] = field(default_factory=dict)


def column(source: str, target: str, **more: object) -> dict[str, object]:
    """Return a mapping entry for a column that may be absent."""
    name, _, subtype = target.partition(".")
    entry = {"source": source, "field": name, "subtype": subtype, "optional": True, **more}
    return {key: value for key, value in entry.items() if value}


def columns(sources: Sequence[str], target: str, **more: object) -> list[dict[str, object]]:
    """Return a mapping entry for each name that the same column has in different exports."""
    return [column(source, target, **more) for source in sources]


def options_named_by(names: Sequence[tuple[str, str]], **more: object) -> list[dict[str, object]]:
    """Return mapping entries for options and properties, from pairs of a name column and a value column."""
    return [
        column(value, target, name_field=name, **more)
        for name, value in names
        for target in ("option", "property")
    ]
