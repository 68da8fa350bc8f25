"""The format of a shop system's export."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# The value of `relative_urls` for pictures whose base URL is unknown.
LEAVE_OUT = "leave_out"


@dataclass(frozen=True)
class ShopExport:
    """A mapping of the service."""

    # The id is smaller than the ids of all mappings that suppliers save, so they never clash.
    id: int
    name: str
    title: str
    # Sets of columns in lower case: a header with all columns of a set certainly belongs to this export.
    signatures: tuple[frozenset[str], ...]
    field_mapping: tuple[dict[str, Any], ...]
    rows: Mapping[str, object] = field(default_factory=dict)
    # Columns in lower case that a header of this export does not have.
    unlike: frozenset[str] = frozenset()

    @property
    def options(self) -> dict[str, Any]:
        return {"field_mapping": list(self.field_mapping), "math_transformer": "", "rows": dict(self.rows)}

    def has_header(self, header: Collection[str]) -> bool:
        """Whether a header in lower case certainly belongs to this export."""
        names = set(header)
        return not self.unlike & names and any(signature <= names for signature in self.signatures)


@dataclass(frozen=True)
class StockExport:
    """The format of a shop system's stock export: a row or a column for each location."""

    name: str
    title: str
    # Columns in lower case that no other file has together.
    signature: frozenset[str]
    id_field: str
    # Columns of the quantity; the first present column counts.
    amount_fields: tuple[str, ...]
    location_field: str
    # Other columns, in lower case. In a file without a location column, all remaining columns are locations.
    other_fields: frozenset[str]
    # Texts, in lower case, that stand for a quantity where nothing is stocked.
    not_stocked: frozenset[str]
    rows: Mapping[str, object] = field(default_factory=dict)


def column(source: str, target: str, **more: Any) -> dict[str, object]:
    """Return an entry for a column that may be absent."""
    name, _, subtype = target.partition(".")
    entry = {"source": source, "field": name, "subtype": subtype, "optional": True, **more}
    return {key: value for key, value in entry.items() if value}


def columns(sources: Sequence[str], target: str, **more: Any) -> list[dict[str, object]]:
    """Return an entry for each name that a column has in exports."""
    return [column(source, target, **more) for source in sources]


def options_named_by(names: Sequence[tuple[str, str]], **more: Any) -> list[dict[str, object]]:
    """Return entries for columns with values whose names are in other columns: options and properties."""
    return [
        column(value, target, name_field=name, **more)
        for name, value in names
        for target in ("option", "property")
    ]
