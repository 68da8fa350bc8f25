"""Bodies of product imports (interface 9.1, contract 6 and 10)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.fields import Flag, Optional, Text
from imports.models import Kind
from imports.pipeline.expression_parser import LONGEST, ExpressionError, parse_assignments
from imports.pipeline.importer import importer_of
from imports.pipeline.mapping import read_entries
from imports.serializers.fields import CsvLines, FileTypeBody, MappingField
from imports.serializers.mappings import RowsBody, validate_name


class ProductMappingBody(FileTypeBody):
    """The mapping from columns of a product file to fields."""

    field_mapping = MappingField(required=False, allow_null=True)
    schema = MappingField(required=False, allow_null=True, help_text="Entries as in field_mapping.")
    math_transformer = Optional(
        max_length=LONGEST, help_text="Such as `wholesale_price = round(retail_price * 0.55, 2)`."
    )
    rows = RowsBody(required=False, allow_null=True, help_text="The meaning of the file's rows.")

    def options(self) -> dict[str, Any]:
        """Return the options that the job stores. Raises Invalid for a wrong mapping."""
        columns, data = importer_of(Kind.PRODUCTS).columns, self.validated_data
        entries = read_entries(data.get("field_mapping") or [], columns, "field_mapping")
        entries = read_entries(data.get("schema") or [], columns, "schema", entries)
        options = {
            "field_mapping": [entry.as_json() for entry in entries],
            "math_transformer": data.get("math_transformer", ""),
        }
        more = {"rows": data.get("rows") or {}, "mapping": data.get("mapping", "")}
        return options | {name: value for name, value in more.items() if value}

    def validate_math_transformer(self, value: str) -> str:
        columns = importer_of(Kind.PRODUCTS).columns
        try:
            parse_assignments(value, [name for name, column in columns.items() if column.numeric])
        except ExpressionError as error:
            raise serializers.ValidationError(str(error), code="invalid_expression") from error
        return value


class SavedMappingBody(ProductMappingBody):
    """A mapping with a name; imports that use this name are read with it."""

    name = Text(max_length=50, help_text="Lower-case letters, digits, - and _. Imports use this name.")
    kind = Optional(max_length=20, help_text="`products`, which is the default and the only value.")

    def validate_name(self, value: str) -> str:
        return validate_name(value)

    def validate_kind(self, value: str) -> str:
        if value not in ("", "products"):
            raise serializers.ValidationError("Must be products.", code="invalid_choice")
        return value


class NamedMappingBody(ProductMappingBody):
    """The mapping from columns of a file to fields: a saved mapping, the fields of this body, or both."""

    mapping = Optional(
        max_length=50,
        help_text="A saved mapping's name, such as `shopify`. Other fields given here override"
        " the saved ones. `auto`: the mapping that the file's header certainly belongs to.",
    )


class ImportProductsBody(NamedMappingBody):
    file_url = Optional(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    url = Optional(max_length=1000, help_text="The same as file_url.")
    data = CsvLines(  # type: ignore[assignment] # the interface names it so
        required=False, allow_null=True, help_text="Instead of file_url: CSV lines."
    )
    dry_run = Flag(required=False, help_text="Report the expected result and change nothing.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        urls = [name for name in ("file_url", "url") if attrs.get(name)]
        if attrs.get("data") and urls:
            raise serializers.ValidationError({"data": f"Give either {urls[0]} or data, not both."})
        if len(urls) == 2 and attrs["file_url"] != attrs["url"]:
            raise serializers.ValidationError({"url": "Means the same as file_url, but differs from it."})
        if not urls and not attrs.get("data"):
            raise serializers.ValidationError({"file_url": ["Give file_url or data."]}, code="required")
        return attrs


class AutoProductsBody(NamedMappingBody):
    enabled = Flag(required=False)
