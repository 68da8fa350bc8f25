"""What the service knows of one shop system's export."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What `relative_urls` of an entry says of pictures whose address nobody knows.
LEAVE_OUT = "leave_out"


@dataclass(frozen=True)
class ShopExport:
    """A saved mapping that comes with the service."""

    # Below all ids that are given to mappings which suppliers save.
    id: int
    name: str
    title: str
    # Sets of columns, in lower case: a header that has all of one is surely that of such an export.
    signatures: tuple[frozenset[str], ...]
    field_mapping: tuple[dict[str, Any], ...]
    rows: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        return {"field_mapping": list(self.field_mapping), "math_transformer": "", "rows": dict(self.rows)}

    def has_header(self, header: Collection[str]) -> bool:
        """Whether a header, in lower case, is surely one of these."""
        return any(signature <= set(header) for signature in self.signatures)


@dataclass(frozen=True)
class StockExport:
    """How a shop system's export of stock is read: a row for each place, or a column for each."""

    name: str
    title: str
    # Columns of a header, in lower case, that no other file has together.
    signature: frozenset[str]
    id_field: str
    # Of these columns the first that is there has the quantity.
    amount_fields: tuple[str, ...]
    location_field: str
    # What else such a file has, in lower case; where it has no column of places, all others are places.
    other_fields: frozenset[str]
    # What stands for a quantity where nothing is kept, in lower case.
    not_stocked: frozenset[str]
    rows: Mapping[str, Any] = field(default_factory=dict)


def column(source: str, target: str, **more: Any) -> dict[str, Any]:
    """An entry for a column that may be absent."""
    name, _, subtype = target.partition(".")
    entry = {"source": source, "field": name, "subtype": subtype, "optional": True, **more}
    return {key: value for key, value in entry.items() if value}


def columns(sources: Sequence[str], target: str, **more: Any) -> list[dict[str, Any]]:
    """An entry for each of the names that a column has in exports."""
    return [column(source, target, **more) for source in sources]


def options_named_by(names: Sequence[tuple[str, str]], **more: Any) -> list[dict[str, Any]]:
    """Columns of values, each with the column of its name: options and properties."""
    return [
        column(value, target, name_field=name, **more)
        for name, value in names
        for target in ("option", "property")
    ]
