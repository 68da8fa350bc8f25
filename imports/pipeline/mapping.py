"""Mapping entries: read `field_mapping` and `schema` of a request (contract 6 and 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as made
from typing import Any

from api.errors import Invalid
from api.fields import control_fault
from api.spelling import closest_match
from imports.pipeline.columns import FileColumn, Pairs, Urls
from imports.pipeline.expression_parser import ExpressionError, parse_value
from imports.shop_exports.export import LEAVE_OUT

TRANSFORMERS = ("uppercase", "lowercase", "capitalize", "capitalize-first")
ALIASES = {"price": "retail_price", "options": "option", "properties": "property"}
SUBTYPES = ("option_type", "property_type", "property_name")
NAMING = ("name_field", "name_separator")
KEYS = (
    *("source_field", "destination_field", *SUBTYPES),
    *("string_transformer", "math_transformer", "split_by_character"),
    *(*NAMING, "relative_urls", "values", "optional"),
)
NO_TEXT = ("values", "optional")
MOST_ENTRIES, MOST_VALUES, LONGEST_NAME = 500, 100, 200


@dataclass(frozen=True)
class MappingEntry:
    """A column of the file, its field, and the changes to its text."""

    source: str
    field: str
    subtype: str = ""
    string_transformer: str = ""
    math_transformer: str = ""
    split_by_character: str = ""
    # For options and properties: the column with their names, or the text between name and value.
    name_field: str = ""
    name_separator: str = ""
    # For pictures: the URL put before a relative path, or LEAVE_OUT.
    relative_urls: str = ""
    # The texts that replace certain cells: `{"draft": "false"}` reads `draft` as `false`.
    values: Mapping[str, str] = made(default_factory=dict)
    # Whether the column may be absent; of several entries for one field, the first present column counts.
    optional: bool = False

    def as_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value}


def snake_case(name: str) -> str:
    """Convert a name such as `sourceField` to `source_field`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def read_entries(
    items: Sequence[object],
    columns: Mapping[str, FileColumn],
    where: str,
    former: Sequence[MappingEntry] = (),
) -> list[MappingEntry]:
    """Return the `former` entries, then the entries of this list. Raises Invalid for a wrong entry.

    `former` has the entries from earlier lists of the same request.
    """
    if len(items) > MOST_ENTRIES:
        raise Invalid.at(where, f"Has {len(items)} entries; at most {MOST_ENTRIES} are allowed.")
    entries = list(former)
    for index, item in enumerate(items):
        path = f"{where}[{index}]"
        if is_left_out(item):
            continue
        if isinstance(item, str):
            _refuse_control(item, path)
            entry = _from_text(item, columns, path)
        elif isinstance(item, Mapping):
            entry = _from_object(item, columns, path)
        else:
            raise Invalid.at(path, 'Must be a string "Column in the file:field" or an object.')
        _refuse_second(entry, entries, columns, _at(path, item, "destination_field"))
        entries.append(entry)
    return entries


def is_left_out(item: object) -> bool:
    """Return whether an entry leaves a field out: `{"source_field": null, "destination_field": "gtin"}`."""
    by_key = {snake_case(str(key)): value for key, value in item.items()} if isinstance(item, Mapping) else {}
    return by_key.get("source_field", "") is None


def fields_left_out(items: Sequence[Any], columns: Mapping[str, FileColumn], where: str) -> list[str]:
    """Return the fields that entries of a request leave out. Raises Invalid."""
    fields = []
    for index, item in enumerate(items):
        if is_left_out(item):
            given = {snake_case(str(key)): value for key, value in item.items()}
            name = str(given.get("destination_field"))
            field = ALIASES.get(name, name)
            path = f"{where}[{index}].destination_field"
            if field not in columns:
                raise Invalid.at(path, _unknown_field(field, columns), "unknown")
            if columns[field].is_key and columns[field].required:
                raise Invalid.at(path, f"{field} cannot be left out: every row needs it.")
            fields.append(field)
    return fields


def _unknown_field(name: object, columns: Mapping[str, FileColumn]) -> str:
    return f"There is no field {name!r}; there are {', '.join(sorted(columns))}."


def _at(path: str, item: object, key: str) -> str:
    """Return the path of a fault: a key of an entry that is an object, or an entry that is a string."""
    return f"{path}.{key}" if isinstance(item, Mapping) else path


def _refuse_second(
    entry: MappingEntry, former: list[MappingEntry], columns: Mapping[str, FileColumn], path: str
) -> None:
    several = columns[entry.field].splittable or entry.optional
    if not several and any(entry.field == each.field for each in former):
        raise Invalid.at(path, f"{entry.field} is filled by an earlier entry already.", "duplicate")


def _refuse_control(text: str, path: str) -> None:
    """Refuse control characters: no column has such a name, and the database would not store it."""
    if fault := control_fault(text):
        raise Invalid.at(path, fault, "control")


def _from_text(item: str, columns: Mapping[str, FileColumn], path: str) -> MappingEntry:
    source, colon, target = item.rpartition(":")
    if not colon or not source.strip():
        raise Invalid.at(path, 'Must read "Column in the file:field"; the last colon separates them.')
    name, _, subtype = target.strip().partition(".")
    return _entry(source, name, subtype, None, columns, path)


def _from_object(item: Mapping[str, object], columns: Mapping[str, FileColumn], path: str) -> MappingEntry:
    others = {snake_case(str(key)): value for key, value in item.items() if snake_case(str(key)) in NO_TEXT}
    given = _by_key({key: each for key, each in item.items() if snake_case(str(key)) not in NO_TEXT}, path)
    for key in ("source_field", "destination_field"):
        if not given.get(key, "").strip():
            raise Invalid.at(f"{path}.{key}", "This field is required.", "required")
    name, _, subtype = given["destination_field"].strip().partition(".")
    for key in SUBTYPES:
        subtype = subtype or given.get(key, "").strip()
    entry = _entry(given["source_field"], name, subtype, given, columns, path)
    return replace(entry, values=_values(others, path), optional=_optional(others, path))


def _values(item: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return the values that replace cells of the column. The keys are the cells' texts in lower case."""
    meanings = item.get("values") or {}
    strings = isinstance(meanings, dict) and all(isinstance(text, str) for text in meanings.values())
    if not strings or len(meanings) > MOST_VALUES:
        message = f'Must be an object of at most {MOST_VALUES} strings, such as {{"draft": "false"}}.'
        raise Invalid.at(f"{path}.values", message)
    for cell, value in meanings.items():
        _refuse_control(f"{cell}{value}", f"{path}.values")
        if len(cell) > LONGEST_NAME or len(value) > LONGEST_NAME:
            raise Invalid.at(f"{path}.values", f"Has a string of more than {LONGEST_NAME} characters.")
    return {cell.strip().lower(): value.strip() for cell, value in meanings.items()}


def _optional(item: Mapping[str, object], path: str) -> bool:
    optional = item.get("optional")
    if optional is not None and not isinstance(optional, bool):
        raise Invalid.at(f"{path}.optional", "Must be true or false.")
    return bool(optional)


def _by_key(item: Mapping[str, object], path: str) -> dict[str, str]:
    """Return the texts of a mapping entry by key. Unknown keys are left out.

    Raises Invalid for a value that is not a text, and for an unknown key that resembles a known key.
    """
    given: dict[str, str] = {}
    for key, value in item.items():
        name = snake_case(str(key))
        if name not in KEYS:
            if near := closest_match(name, KEYS):
                message = f"There is no such field. Did you mean `{near}`?"
                raise Invalid.at(f"{path}.{key}", message, "unknown_field")
        elif value in (None, ""):
            continue
        elif not isinstance(value, str):
            raise Invalid.at(f"{path}.{key}", "Must be a string.")
        elif given.setdefault(name, value) != value:
            raise Invalid.at(f"{path}.{key}", f"Means the same as {name}, but differs from it.")
        else:
            _refuse_control(given[name], f"{path}.{key}")
    return given


def _entry(
    source: str,
    name: str,
    subtype: str,
    item: Mapping[str, str] | None,
    columns: Mapping[str, FileColumn],
    path: str,
) -> MappingEntry:
    """Return a checked entry. `item` is the entry as an object, or None if the entry was a string."""
    source, name, given = source.strip(), ALIASES.get(name, name), item or {}
    target = _at(path, item, "destination_field")
    if len(source) > LONGEST_NAME:
        message = f"A column's name has at most {LONGEST_NAME} characters."
        raise Invalid.at(_at(path, item, "source_field"), message)
    if len(subtype) > LONGEST_NAME:
        raise Invalid.at(target, f"A column's name has at most {LONGEST_NAME} characters.")
    column = columns.get(name)
    if column is None:
        raise Invalid.at(target, _unknown_field(name, columns), "unknown")
    named = any(given.get(key, "") for key in NAMING)
    if isinstance(column, Pairs) and not named:
        subtype = column.subtype(subtype, source, target)
    elif subtype and not isinstance(column, Pairs):
        raise Invalid.at(target, f"{name} takes no type after a dot.")
    entry = MappingEntry(
        source,
        name,
        subtype,
        given.get("string_transformer", "").strip(),
        # keep leading blanks, because errors give positions in the text as it was sent
        given.get("math_transformer", "").rstrip(),
        given.get("split_by_character", ""),
        given.get("name_field", "").strip(),
        given.get("name_separator", ""),
        given.get("relative_urls", "").strip(),
    )
    _check_transformers(entry, column, path)
    return entry


def _check_transformers(entry: MappingEntry, column: FileColumn, path: str) -> None:
    if entry.string_transformer and entry.string_transformer not in TRANSFORMERS:
        known = ", ".join(TRANSFORMERS)
        raise Invalid.at(f"{path}.string_transformer", f"Must be one of {known}.", "invalid_choice")
    if entry.string_transformer and column.numeric:
        raise Invalid.at(f"{path}.string_transformer", f"{entry.field} is a number.")
    if entry.split_by_character and not column.splittable:
        raise Invalid.at(f"{path}.split_by_character", f"{entry.field} holds one value only.")
    if len(entry.split_by_character) > 10:
        raise Invalid.at(f"{path}.split_by_character", "Has more than 10 characters.", "max_length")
    for key in NAMING:
        if getattr(entry, key) and not isinstance(column, Pairs):
            raise Invalid.at(f"{path}.{key}", f"{entry.field} has no names; options and properties do.")
    if entry.relative_urls and not isinstance(column, Urls):
        raise Invalid.at(f"{path}.relative_urls", f"{entry.field} holds no URLs.")
    if entry.relative_urls and not re.match("https?://[^ ]+$|leave_out$", entry.relative_urls):
        message = f"Must be the URL that paths are appended to, or {LEAVE_OUT}."
        raise Invalid.at(f"{path}.relative_urls", message)
    if entry.math_transformer:
        if not column.numeric:
            raise Invalid.at(f"{path}.math_transformer", f"{entry.field} is not a number.")
        try:
            parse_value(entry.math_transformer)
        except ExpressionError as error:
            raise Invalid.at(f"{path}.math_transformer", str(error)) from error
