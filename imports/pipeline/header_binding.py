"""Bind columns of the file to fields: first by the entries of the mapping, then by the columns' names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from imports.pipeline.columns import FileColumn, Pairs
from imports.pipeline.errors import Unreadable
from imports.pipeline.mapping import ALIASES, MappingEntry


@dataclass(frozen=True)
class Binding:
    """A mapping entry and the index of its column in the file."""

    index: int
    entry: MappingEntry
    # The index of the column with the names of options or properties.
    named_by: int | None = None


@dataclass(frozen=True)
class Bound:
    """A bound header: the columns of each field, the ignored columns and warnings."""

    fields: dict[str, list[Binding]]
    ignored: list[str]
    warnings: list[str]

    def without_ignored(self, names: Iterable[str]) -> Bound:
        """Return a copy in which these columns do not count as ignored."""
        used = set(names)
        return replace(self, ignored=[name for name in self.ignored if name not in used])


def meaning(name: str) -> str:
    """Return the field if the name is an alias, else the name in lower case. Aliases ignore case."""
    return ALIASES.get(name.casefold(), name.casefold())


def find(header: Sequence[str], name: str, used: Collection[int]) -> int | None:
    """Return the index of an unused column with this exact name, else with this name in another case.

    Raises Unreadable if several columns would fit.
    """
    alike = [
        index for index, each in enumerate(header) if index not in used and each.casefold() == name.casefold()
    ]
    exact = [index for index in alike if header[index] == name]
    if len(exact or alike) > 1:
        several = " and ".join(repr(header[index][:100]) for index in alike)
        raise Unreadable(
            "duplicate_header",
            f"The columns {several} differ in case only. Rename the right one to {name!r},"
            " or use its exact spelling in the mapping.",
        )
    return next(iter(exact or alike), None)


def bind(
    header: Sequence[str],
    entries: Iterable[MappingEntry],
    columns: Mapping[str, FileColumn],
    *,
    automatic: bool = True,
    own: int = 0,
) -> Bound:
    """Bind the columns of the entries, then unmapped columns that have a field's name.

    The first `own` columns come from our error report and are skipped. Raises Unreadable if several
    columns fit one name.
    """
    fields: dict[str, list[Binding]] = {}
    used, absent = set(range(own)), []
    for entry in entries:
        index = find(header, entry.source, range(own))
        named_by = find(header, entry.name_field, range(own)) if entry.name_field else None
        if index is None or (entry.name_field and named_by is None):
            absent += [] if entry.optional else [entry]
        elif entry.field not in fields or columns[entry.field].splittable:
            fields.setdefault(entry.field, []).append(Binding(index, entry, named_by))
            used.update([index] if named_by is None else [index, named_by])
    for field in map(meaning, header[own:] if automatic else []):
        if field not in columns or field in fields or isinstance(columns[field], Pairs):
            continue
        spellings = [field, *(alias for alias, name in ALIASES.items() if name == field)]
        index = next((at for each in spellings if (at := find(header, each, used)) is not None), None)
        if index is not None:
            fields[field] = [Binding(index, MappingEntry(header[index], field))]
            used.add(index)
    ignored = [name for index, name in enumerate(header) if index not in used and name]
    warnings = [_absent_warning(entry, fields) for entry in absent]
    warnings += _alike_warnings([header[index] for index in used if index >= own], ignored)
    return Bound(fields, ignored, warnings)


def _absent_warning(entry: MappingEntry, fields: Mapping[str, list[Binding]]) -> str:
    others = " and ".join(repr(each.entry.source) for each in fields.get(entry.field, []))
    instead = f"{entry.field} is filled from {others} only" if others else f"{entry.field} stays unchanged"
    return f"The file has no column {entry.source!r}, which the mapping names; {instead}."


def _alike_warnings(read: Iterable[str], ignored: Iterable[str]) -> list[str]:
    """Return a warning for each ignored column whose name differs from a read column in case only."""
    by_name = {name.casefold(): name for name in read}
    return [
        f"The columns {each!r} and {found!r} differ in case only; {found!r} was read."
        for each in ignored
        if (found := by_name.get(each.casefold()))
    ]
