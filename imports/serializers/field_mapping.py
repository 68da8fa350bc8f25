"""Bodies with a mapping from columns of a file to fields (contract 6 and 10)."""

from __future__ import annotations

from collections.abc import Mapping

from rest_framework import serializers

from api.errors import Invalid
from api.fields import Optional, Text
from imports.kinds import kind_with_mappings
from imports.pipeline.columns import FileColumn
from imports.pipeline.expression_parser import LONGEST, ExpressionError, parse_assignments
from imports.pipeline.mapping import MappingEntry, fields_left_out, read_entries
from imports.serializers.fields import FileTypeBody, MappingField
from imports.serializers.mappings import RowsBody, validate_name


class FieldMappingBody(FileTypeBody):
    """The mapping from columns of a file to fields. Subclasses name the fields."""

    field_mapping = MappingField(required=False, allow_null=True)
    schema = MappingField(required=False, allow_null=True, help_text="Entries as in field_mapping.")
    math_transformer = Optional(
        max_length=LONGEST,
        trim_whitespace=False,  # errors give positions in the text as it was sent
        help_text="Such as `wholesale_price = round(retail_price * 0.55, 2)`.",
    )
    rows = RowsBody(required=False, allow_null=True, help_text="The meaning of the file's rows.")

    def columns(self) -> Mapping[str, FileColumn]:
        """Return the fields that a file may fill, by name."""
        raise NotImplementedError

    def options(self) -> dict[str, object]:
        """Return the options that the job stores. Raises Invalid for a wrong mapping."""
        columns, data = self.columns(), self.validated_data
        entries, left_out = list[MappingEntry](), list[str]()
        for name in ("field_mapping", "schema"):
            entries = read_entries(data.get(name) or [], columns, name, entries)
            left_out += fields_left_out(data.get(name) or [], columns, name)
        if both := {entry.field for entry in entries}.intersection(left_out):
            raise Invalid.at("field_mapping", f"{min(both)} is both filled and left out.", "duplicate")
        options = {
            "field_mapping": [entry.as_json() for entry in entries],
            "math_transformer": data.get("math_transformer", ""),
        }
        more = {"rows": data.get("rows") or {}, "mapping": data.get("mapping", ""), "left_out": left_out}
        return options | {name: value for name, value in more.items() if value}

    def validate_math_transformer(self, value: str) -> str:
        try:
            parse_assignments(value, [name for name, column in self.columns().items() if column.numeric])
        except ExpressionError as error:
            raise serializers.ValidationError(str(error), code="invalid_expression") from error
        return value


class SavedMappingBody(FieldMappingBody):
    """A mapping with a name. Imports that use this name read their files with the mapping."""

    name = Text(max_length=50, help_text="Lower-case letters, digits, - and _. Imports use this name.")
    kind = Optional(max_length=20, help_text="`products`, which is the default and the only value.")

    def columns(self) -> Mapping[str, FileColumn]:
        return kind_with_mappings().importer.columns

    def validate_name(self, value: str) -> str:
        return validate_name(value)

    def validate_kind(self, value: str) -> str:
        known = kind_with_mappings().name
        if value not in ("", known):
            raise serializers.ValidationError(f"Must be {known}.", code="invalid_choice")
        return value


class NamedMappingBody(FieldMappingBody):
    """The mapping from columns of a file to fields: a saved mapping, the fields of this body, or both."""

    mapping = Optional(
        max_length=50,
        help_text="A saved mapping's name, such as `shopify`. Other fields given here override"
        " the saved ones. `auto`: the mapping that the file's header certainly belongs to.",
    )
