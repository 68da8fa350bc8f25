"""The rows of the page for editing a mapping: each column of the file, and the field that it fills."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from imports.drafts.sample import FileSample
from imports.pipeline.columns import FileColumn, Pairs
from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import find, meaning
from imports.serializers.mappings import entry_json, left_out_json

AS_MAPPED = "="
PROPERTY = "property"
CHANGES = ("math_transformer", "string_transformer", "split_by_character")
"""The keys of a mapping entry that the page can edit. The page keeps all other keys unchanged."""
Fields = Mapping[str, FileColumn]
"""The fields that files of a kind may fill, by name."""


def targets(fields: Fields) -> list[tuple[str, str]]:
    """Return the fields that a column can fill, each with its label."""
    labels = []
    for name, column in fields.items():
        if not isinstance(column, Pairs):
            labels.append((name, f"{name} *" if column.required else name))
        elif column.choices:
            labels += [(f"{name}.{choice}", f"{name}: {choice}") for choice in column.choices]
        else:
            labels.append((name, f"{name}, named like the column"))
    return labels


@dataclass
class MappedColumn:
    """A column of the file and the field that it fills, either by the mapping or by the column's name."""

    index: int
    name: str
    cells: list[str]
    targets: Collection[str]
    """The fields that the select box offers."""
    entries: list[dict[str, Any]] = field(default_factory=list)
    by_name: str = ""
    is_read: bool = False
    """Whether the mapping reads this column for another purpose: for names of options, or to group rows."""

    @property
    def is_plain(self) -> bool:
        """Return whether the select box alone can show this column's mapping."""
        extra = (
            set(self.entries[0]) - {"source_field", "destination_field", *CHANGES} if self.entries else set()
        )
        return len(self.entries) == 1 and not extra and self.target in self.targets

    @property
    def target(self) -> str:
        field_name: str = self.entries[0]["destination_field"] if self.entries else ""
        name, _, subtype = field_name.partition(".")
        return name if name == PROPERTY and subtype == self.name else field_name

    @property
    def chosen(self) -> str:
        if not self.entries:
            return ""
        return self.target if self.is_plain else AS_MAPPED

    @property
    def as_mapped(self) -> str:
        """Return the fields that the mapping fills from this column, if the select box cannot show them."""
        if not self.entries or self.is_plain:
            return ""
        return " and ".join(dict.fromkeys(each["destination_field"] for each in self.entries))

    @property
    def left_alone(self) -> str:
        """Return the use of a column without a chosen field, as text: by name, to group rows, or ignored."""
        if self.by_name:
            return f"{self.by_name}, by name"
        return "used to group rows" if self.is_read else "ignored"

    def change(self, name: str) -> str:
        text: str = self.entries[0].get(name, "") if self.is_plain else ""
        return text

    @property
    def changes(self) -> dict[str, str]:
        return {name: self.change(name) for name in CHANGES}

    @property
    def is_changed(self) -> bool:
        return any(self.changes.values())


def columns_of(sample: FileSample, options: Mapping[str, Any], fields: Fields) -> list[MappedColumn]:
    """Return a file's columns, each with the field that it fills under these options of an import."""
    offered = dict(targets(fields))
    columns = [
        MappedColumn(index, name, sample.cells(sample.own + index), offered)
        for index, name in enumerate(sample.columns)
    ]
    entries = [entry for entry in options.get("field_mapping", []) if entry.get("source")]
    for entry in entries:
        if (at := _find(sample, entry["source"])) is not None:
            columns[at].entries.append(entry_json(entry))
        if entry.get("name_field") and (at := _find(sample, entry["name_field"])) is not None:
            columns[at].is_read = True
    filled = {*(entry["field"] for entry in entries), *options.get("left_out", ())}
    for column in columns:
        name = meaning(column.name)
        if (
            name in fields
            and name not in filled
            and not isinstance(fields[name], Pairs)
            and not column.entries
        ):
            column.by_name = name
            filled.add(name)
    for name in _names_in(options.get("rows", {})):
        if (at := _find(sample, name)) is not None:
            columns[at].is_read = True
    return columns


def _names_in(rows: Mapping[str, Any]) -> list[str]:
    listed = [name for key, value in rows.items() if key.endswith("_fields") for name in value]
    chosen = [rows[key]["field"].split("|") for key in ("only_rows", "group_rows") if key in rows]
    return listed + [name.strip() for names in chosen for name in names]


def _find(sample: FileSample, name: str) -> int | None:
    try:
        return find(sample.columns, name, ())
    except Unreadable:
        return None  # two columns differ in case only; the preview shows this error


def changed_body(
    sample: FileSample,
    options: Mapping[str, Any],
    body: Mapping[str, object],
    posted: Mapping[str, str],
    fields: Fields,
) -> dict[str, object]:
    """Return the request body `body` with the posted changes. `options` are the import's options from `body`.

    If a column was changed, the returned body lists every entry and no longer names a saved mapping.
    """
    math = posted.get("math_transformer", "").strip()
    kept: list[dict[str, object]] = []
    chosen: list[dict[str, object]] = []
    changed = False
    for column in columns_of(sample, options, fields):
        entries = _posted_entries(column, posted)
        changed |= entries != column.entries
        (kept if entries == column.entries else chosen).extend(entries)
    entries_now = [entry for entry in kept if not _is_replaced(entry, chosen, fields)] + chosen
    if not changed:
        return {**body, "math_transformer": math} if math or "math_transformer" in body else dict(body)
    sources = {entry["source_field"] for entry in entries_now} | set(sample.columns)
    absent = [entry_json(each) for each in options.get("field_mapping", []) if each["source"] not in sources]
    absent = [entry for entry in absent if entry.get("optional")]
    chosen_fields = {entry["destination_field"] for entry in chosen}
    left_out = [entry for entry in left_out_json(options) if entry["destination_field"] not in chosen_fields]
    return {
        "field_mapping": [*entries_now, *absent, *left_out],
        "math_transformer": math,
        "rows": options.get("rows", {}),
    }


def _is_replaced(entry: Mapping[str, Any], chosen: list[dict[str, object]], fields: Fields) -> bool:
    """Return whether the user chose another column for the entry's field, which only one column can fill."""
    name = entry["destination_field"].partition(".")[0]
    if fields[name].splittable:
        return False
    return any(each["destination_field"] == name for each in chosen)


def _posted_entries(column: MappedColumn, posted: Mapping[str, str]) -> list[dict[str, object]]:
    target = posted.get(f"column-{column.index}", column.chosen)
    if target == AS_MAPPED:
        return column.entries
    if not target:
        return []
    changes = {
        name: posted.get(f"{name}-{column.index}", "").strip(" " * (name != CHANGES[2])) for name in CHANGES
    }
    changes = {name: text for name, text in changes.items() if text}
    present = {name: text for name, text in column.changes.items() if text}
    if column.is_plain and target == column.target and changes == present:
        return column.entries
    if target == PROPERTY:
        target = f"{PROPERTY}.{column.name}"
    return [{"source_field": column.name, "destination_field": target, **changes}]
