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
    """How the columns of a product file become fields."""

    field_mapping = MappingField(required=False, allow_null=True)
    schema = MappingField(required=False, allow_null=True, help_text="Objects as in field_mapping.")
    math_transformer = Optional(
        max_length=LONGEST, help_text="Such as `wholesale_price = round(retail_price * 0.55, 2)`."
    )
    rows = RowsBody(required=False, allow_null=True, help_text="What the rows of the file are.")

    def options(self) -> dict[str, Any]:
        """What the job keeps of it. Raises Invalid for a mapping that cannot be."""
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
    """A mapping under a name: what an import with this name is read by."""

    name = Text(max_length=50, help_text="Lower-case letters, digits, - and _; imports name it so.")
    kind = Optional(max_length=20, help_text="`products`, the default and the only one.")

    def validate_name(self, value: str) -> str:
        return validate_name(value)

    def validate_kind(self, value: str) -> str:
        if value not in ("", "products"):
            raise serializers.ValidationError("Must be products.", code="invalid_choice")
        return value


class NamedMappingBody(ProductMappingBody):
    """How the columns of a file become fields: by a saved mapping, by what stands here, or by both."""

    mapping = Optional(
        max_length=50,
        help_text="A saved mapping's name, such as `shopify`; what else is given here counts instead of what"
        " it says. `auto`: the one that the file's header is surely made for.",
    )


class ImportProductsBody(NamedMappingBody):
    file_url = Optional(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    url = Optional(max_length=1000, help_text="The same as file_url.")
    data = CsvLines(  # type: ignore[assignment] # the interface names it so
        required=False, allow_null=True, help_text="Instead of file_url: CSV lines."
    )
    dry_run = Flag(required=False, help_text="Report what the import would do, and do nothing.")

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
