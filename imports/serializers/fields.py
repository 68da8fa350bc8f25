"""Fields of import bodies: mappings, CSV lines, keys in camelCase."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.bodies import Body
from api.fields import Optional
from imports.pipeline.mapping import TRANSFORMERS, snake_case

MAPPING_OBJECT = {
    "type": "object",
    "required": ["source_field", "destination_field"],
    "properties": {
        "source_field": {
            "type": ["string", "null"],
            "description": "The column's name in the file. null: no column fills the field, neither by"
            " the saved mapping nor by its name.",
        },
        "destination_field": {
            "type": "string",
            "description": "Also price, gtin, option.color, property.Fabric.",
        },
        "option_type": {"type": "string", "enum": ["color", "size", "width"]},
        "string_transformer": {"type": "string", "enum": list(TRANSFORMERS)},
        "math_transformer": {"type": "string", "example": "value * 1.2"},
        "split_by_character": {"type": "string"},
        "name_field": {
            "type": "string",
            "description": "For option and property: the column with the names. Colors, sizes and widths"
            " become options, all others properties.",
        },
        "name_separator": {
            "type": "string",
            "description": "For option and property: the text between name and value in cells such as"
            " `color=Blue`.",
        },
        "relative_urls": {
            "type": "string",
            "description": "For images: the URL that paths are appended to, or `leave_out`.",
        },
        "values": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": 'The value to read for a cell, in upper or lower case: `{"draft": "false"}`.',
        },
        "optional": {
            "type": "boolean",
            "description": "Whether the column may be absent. If several columns fill one field, the first"
            " that the file has counts.",
        },
    },
    "description": "The keys may also be written in camelCase.",
}
MAPPING_TEXT = {"type": "string", "example": "Name:title", "description": "Column in the file:field"}


# Only the description names the object form: client generators make no usable code of "an array or an
# object".
@extend_schema_field(
    {
        "type": "array",
        "items": {"oneOf": [MAPPING_TEXT, MAPPING_OBJECT]},
        "description": 'The column of each field. An object is understood, too: `{"title": "Name",'
        ' "gtin": null}`. null leaves the field out.',
    }
)
class MappingField(serializers.Field[list[object], Any, Any, Any]):
    """The entries of a mapping. `read_entries` checks each entry later."""

    default_error_messages = {"invalid": "Must be an array, or an object with a column for each field."}

    def to_internal_value(self, data: object) -> list[object]:
        if isinstance(data, dict):
            return [{"source_field": column, "destination_field": field} for field, column in data.items()]
        if not isinstance(data, list):
            self.fail("invalid")
        return data

    def to_representation(self, value: list[object]) -> Any:
        return value


@extend_schema_field({"type": "array", "items": {"type": "string"}, "example": ["sku,title", "A-1,Shirt"]})
class CsvLines(serializers.Field[list[str], Any, Any, Any]):
    """CSV lines. The first line is the header."""

    default_error_messages = {"invalid": "Must be an array of strings: CSV lines, the first is the header."}

    def to_internal_value(self, data: object) -> list[str]:
        if not isinstance(data, list):
            self.fail("invalid")
        for index, line in enumerate(data):
            if not isinstance(line, str):
                raise serializers.ValidationError({index: ["Must be a string."]})  # type: ignore[dict-item]
            if not line.isascii() and any("\ud800" <= each <= "\udfff" for each in line):
                raise serializers.ValidationError({index: ["Must not hold an unpaired surrogate."]})  # type: ignore[dict-item]
        return data

    def to_representation(self, value: list[str]) -> Any:
        return value


class CamelBody(Body):
    """A body whose keys may also be written in camelCase. An empty spelling counts as not given."""

    def to_internal_value(self, data: object) -> Any:
        return super().to_internal_value(self._in_snake_case(data) if isinstance(data, dict) else data)

    def _in_snake_case(self, data: dict[str, object]) -> dict[str, object]:
        """Return the body with each field under its own name, too. Raises ValidationError."""
        given = dict(data)
        for key, value in data.items():
            name = snake_case(key)
            if name == key or (name in given and value in (None, "")):
                continue
            if given.get(name) in (None, ""):
                given[name] = value
            elif name in self.fields and given[name] != value:
                message = f"Means the same as {name}, but differs from it."
                raise serializers.ValidationError({key: message}, code="invalid")
        return given


class FileTypeBody(CamelBody):
    file_type = Optional(
        max_length=20,
        help_text="`csv`, the default and the only value. Other file types are recognized by their content.",
    )

    def validate_file_type(self, value: str) -> str:
        if value and value.lower() != "csv":
            message = "Must be csv or left out. A workbook or an archive is recognized by its content."
            raise serializers.ValidationError(message, code="invalid_choice")
        return value
