"""A product file's mapping as people see and change it: each column of the file, and what it fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from imports.drafts.sample import Sample
from imports.models import Kind
from imports.pipeline.columns import Pairs
from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import find, meaning
from imports.pipeline.importer import importer_of
from imports.serializers.mappings import entry_json

AS_MAPPED = "="
PROPERTY = "property"
CHANGES = ("math_transformer", "string_transformer", "split_by_character")
"""What may be done to a cell on its way; the rest that a mapping can say is kept as it is."""


def targets() -> list[tuple[str, str]]:
    """What a column can fill, each with its name for people."""
    found = []
    for name, column in importer_of(Kind.PRODUCTS).columns.items():
        if not isinstance(column, Pairs):
            found.append((name, f"{name} *" if column.required else name))
        elif column.choices:
            found += [(f"{name}.{choice}", f"{name}: {choice}") for choice in column.choices]
        else:
            found.append((name, f"{name}, named like the column"))
    return found


@dataclass
class FileColumn:
    """A column of the file: what it fills by the mapping, or by its own name."""

    place: int
    name: str
    cells: list[str]
    entries: list[dict[str, Any]] = field(default_factory=list)
    by_name: str = ""
    helps: bool = False
    """Whether the mapping reads it beside others: for their names, or for what rows are."""

    @property
    def is_plain(self) -> bool:
        """Whether the select says all of it."""
        extra = (
            set(self.entries[0]) - {"source_field", "destination_field", *CHANGES} if self.entries else set()
        )
        return len(self.entries) == 1 and not extra and self.target in dict(targets())

    @property
    def target(self) -> str:
        found: str = self.entries[0]["destination_field"] if self.entries else ""
        name, _, subtype = found.partition(".")
        return name if name == PROPERTY and subtype == self.name else found

    @property
    def chosen(self) -> str:
        if not self.entries:
            return ""
        return self.target if self.is_plain else AS_MAPPED

    @property
    def as_mapped(self) -> str:
        """What the mapping does with it, in words; empty where the select says all."""
        if not self.entries or self.is_plain:
            return ""
        return " and ".join(dict.fromkeys(each["destination_field"] for each in self.entries))

    @property
    def left_alone(self) -> str:
        """What becomes of it where nothing is chosen."""
        if self.by_name:
            return f"{self.by_name}, by its name"
        return "read for what rows are" if self.helps else "ignored"

    def change(self, name: str) -> str:
        said: str = self.entries[0].get(name, "") if self.is_plain else ""
        return said

    @property
    def changes(self) -> dict[str, str]:
        return {name: self.change(name) for name in CHANGES}

    @property
    def is_changed(self) -> bool:
        return any(self.changes.values())


def columns_of(sample: Sample, options: Mapping[str, Any]) -> list[FileColumn]:
    """The columns of a file as options of an import map them."""
    known = importer_of(Kind.PRODUCTS).columns
    found = [
        FileColumn(place, name, sample.cells(sample.own + place)) for place, name in enumerate(sample.columns)
    ]
    entries = [entry for entry in options.get("field_mapping", []) if entry.get("source")]
    for entry in entries:
        if (at := _find(sample, entry["source"])) is not None:
            found[at].entries.append(entry_json(entry))
        if entry.get("name_field") and (at := _find(sample, entry["name_field"])) is not None:
            found[at].helps = True
    filled = {entry["field"] for entry in entries}
    for each in found:
        name = meaning(each.name)
        if name in known and name not in filled and not isinstance(known[name], Pairs) and not each.entries:
            each.by_name = name
            filled.add(name)
    for name in _names_in(options.get("rows", {})):
        if (at := _find(sample, name)) is not None:
            found[at].helps = True
    return found


def _names_in(rows: Mapping[str, Any]) -> list[str]:
    listed = [name for key, value in rows.items() if key.endswith("_fields") for name in value]
    chosen = [rows[key]["field"].split("|") for key in ("only_rows", "group_rows") if key in rows]
    return listed + [name.strip() for names in chosen for name in names]


def _find(sample: Sample, name: str) -> int | None:
    try:
        return find(sample.columns, name, ())
    except Unreadable:
        return None  # the preview says which two are alike


def changed_body(
    sample: Sample, options: Mapping[str, Any], body: Mapping[str, Any], posted: Mapping[str, str]
) -> dict[str, Any]:
    """The body of a request, as what was posted changes it; `options` are what `body` says.

    Where a column is changed, what a saved mapping says is written out: from then on that by hand counts.
    """
    math = posted.get("math_transformer", "").strip()
    kept: list[dict[str, Any]] = []
    chosen: list[dict[str, Any]] = []
    changed = False
    for column in columns_of(sample, options):
        entries = _posted_entries(column, posted)
        changed |= entries != column.entries
        (kept if entries == column.entries else chosen).extend(entries)
    now = [each for each in kept if not _is_replaced(each, chosen)] + chosen
    if not changed:
        return {**body, "math_transformer": math} if math or "math_transformer" in body else dict(body)
    sources = {entry["source_field"] for entry in now} | set(sample.columns)
    absent = [entry_json(each) for each in options.get("field_mapping", []) if each["source"] not in sources]
    return {
        "field_mapping": now + [each for each in absent if each.get("optional")],
        "math_transformer": math,
        "rows": options.get("rows", {}),
    }


def _is_replaced(entry: Mapping[str, Any], chosen: list[dict[str, Any]]) -> bool:
    """Whether somebody has chosen another column for a field that holds one value."""
    name = entry["destination_field"].partition(".")[0]
    if importer_of(Kind.PRODUCTS).columns[name].splittable:
        return False
    return any(each["destination_field"] == name for each in chosen)


def _posted_entries(column: FileColumn, posted: Mapping[str, str]) -> list[dict[str, Any]]:
    target = posted.get(f"column-{column.place}", column.chosen)
    if target == AS_MAPPED:
        return column.entries
    if not target:
        return []
    said = {
        name: posted.get(f"{name}-{column.place}", "").strip(" " * (name != CHANGES[2])) for name in CHANGES
    }
    said = {name: value for name, value in said.items() if value}
    if column.is_plain and target == column.target and said == {k: v for k, v in column.changes.items() if v}:
        return column.entries
    if target == PROPERTY:
        target = f"{PROPERTY}.{column.name}"
    return [{"source_field": column.name, "destination_field": target, **said}]
