"""From the columns of a file to fields: what `field_mapping` and `schema` say (contract 6 and 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from api.errors import Invalid
from imports.columns import Column, Pairs
from imports.expressions import ExpressionError, parse_value

TRANSFORMERS = ("uppercase", "lowercase", "capitalize", "capitalize-first")
ALIASES = {"price": "retail_price", "options": "option", "properties": "property"}
MOST_ENTRIES, LONGEST_NAME = 500, 200


@dataclass(frozen=True)
class Entry:
    """One column of the file, the field it fills, and what is done to its text on the way."""

    source: str
    field: str
    subtype: str = ""
    string_transformer: str = ""
    math_transformer: str = ""
    split_by_character: str = ""

    def as_json(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def snake_case(name: str) -> str:
    """`sourceField` as `source_field`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def read_entries(
    items: Sequence[Any], columns: Mapping[str, Column], where: str, former: Sequence[Entry] = ()
) -> list[Entry]:
    """The former entries and those that a request gives. Raises Invalid naming the one at fault."""
    if len(items) > MOST_ENTRIES:
        raise Invalid.at(where, f"Has {len(items)} entries; {MOST_ENTRIES} is the most.")
    entries = list(former)
    for index, item in enumerate(items):
        path = f"{where}[{index}]"
        if isinstance(item, str):
            entry = _from_text(item, columns, path)
        elif isinstance(item, Mapping):
            entry = _from_object(item, columns, path)
        else:
            raise Invalid.at(path, 'Must be a text "Column in the file:field" or an object.')
        _refuse_second(entry, entries, columns, path)
        entries.append(entry)
    return entries


def _refuse_second(entry: Entry, former: list[Entry], columns: Mapping[str, Column], path: str) -> None:
    several = columns[entry.field].splittable
    if not several and any(entry.field == each.field for each in former):
        raise Invalid.at(path, f"{entry.field} is filled by an earlier entry already.", "duplicate")


def _from_text(item: str, columns: Mapping[str, Column], path: str) -> Entry:
    source, colon, target = item.rpartition(":")
    if not colon or not source.strip():
        raise Invalid.at(path, 'Must read "Column in the file:field"; the last colon parts them.')
    name, _, subtype = target.strip().partition(".")
    return _entry(source, name, subtype, {}, columns, path)


def _from_object(item: Mapping[str, Any], columns: Mapping[str, Column], path: str) -> Entry:
    given = {snake_case(str(key)): value for key, value in item.items()}
    for key, value in given.items():
        if value is not None and not isinstance(value, str):
            raise Invalid.at(f"{path}.{key}", "Must be a text in quotes.")
    for key in ("source_field", "destination_field"):
        if not (given.get(key) or "").strip():
            raise Invalid.at(f"{path}.{key}", "This field is required.", "required")
    name, _, subtype = given["destination_field"].strip().partition(".")
    for key in ("option_type", "property_type", "property_name"):
        subtype = subtype or (given.get(key) or "").strip()
    texts = {key: value or "" for key, value in given.items()}
    return _entry(given["source_field"], name, subtype, texts, columns, path)


def _entry(
    source: str, name: str, subtype: str, given: Mapping[str, str], columns: Mapping[str, Column], path: str
) -> Entry:
    source, name = source.strip(), ALIASES.get(name, name)
    if len(source) > LONGEST_NAME or len(subtype) > LONGEST_NAME:
        raise Invalid.at(path, f"A column's name has at most {LONGEST_NAME} characters.")
    column = columns.get(name)
    if column is None:
        raise Invalid.at(
            path, f"There is no field {name!r}; there are {', '.join(sorted(columns))}.", "unknown"
        )
    if isinstance(column, Pairs):
        subtype = column.subtype(subtype, source, path)
    elif subtype:
        raise Invalid.at(path, f"{name} takes no type after a dot.")
    entry = Entry(
        source,
        name,
        subtype,
        given.get("string_transformer", "").strip(),
        given.get("math_transformer", "").strip(),
        given.get("split_by_character", ""),
    )
    _check_transformers(entry, column, path)
    return entry


def _check_transformers(entry: Entry, column: Column, path: str) -> None:
    if entry.string_transformer and entry.string_transformer not in TRANSFORMERS:
        known = ", ".join(TRANSFORMERS)
        raise Invalid.at(f"{path}.string_transformer", f"Must be one of {known}.", "invalid_choice")
    if entry.string_transformer and column.numeric:
        raise Invalid.at(f"{path}.string_transformer", f"{entry.field} is a number.")
    if entry.split_by_character and not column.splittable:
        raise Invalid.at(f"{path}.split_by_character", f"{entry.field} holds one value only.")
    if len(entry.split_by_character) > 10:
        raise Invalid.at(f"{path}.split_by_character", "Has more than 10 characters.", "max_length")
    if entry.math_transformer:
        if not column.numeric:
            raise Invalid.at(f"{path}.math_transformer", f"{entry.field} is no number.")
        try:
            parse_value(entry.math_transformer)
        except ExpressionError as error:
            raise Invalid.at(f"{path}.math_transformer", str(error)) from error


@dataclass(frozen=True)
class Binding:
    """An entry and the place of its column in the file."""

    index: int
    entry: Entry


@dataclass(frozen=True)
class Bound:
    """A file's header understood: which column fills which field."""

    fields: dict[str, list[Binding]]
    ignored: list[str]
    absent: list[str]


def find(header: Sequence[str], name: str) -> int | None:
    """The place of a column by its exact name, else by one that differs in case only."""
    if name in header:
        return header.index(name)
    alike = [index for index, each in enumerate(header) if each.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def bind(
    header: Sequence[str],
    entries: Iterable[Entry],
    columns: Mapping[str, Column],
    *,
    automatic: bool = True,
    own: int = 0,
) -> Bound:
    """Bind entries, then unmapped columns that bear a field's name; the first `own` are our report's."""
    fields: dict[str, list[Binding]] = {}
    used: set[int] = set(range(own))
    absent = []
    for entry in entries:
        index = find(header, entry.source)
        if index is None:
            absent.append(entry.source)
        else:
            fields.setdefault(entry.field, []).append(Binding(index, entry))
            used.add(index)
    for index, name in enumerate(header):
        if index in used:
            continue
        field = ALIASES.get(name.casefold(), name.casefold())
        column = columns.get(field) if automatic else None
        if column is not None and field not in fields and not isinstance(column, Pairs):
            fields[field] = [Binding(index, Entry(name, field))]
            used.add(index)
    ignored = [name for index, name in enumerate(header) if index not in used and name]
    return Bound(fields, ignored, absent)
