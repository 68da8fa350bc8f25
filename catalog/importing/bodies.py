"""Bodies of product imports (interface 9.1, contract 6 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rest_framework import serializers

from api.bodies import names_of_switch
from api.fields import Flag, Optional
from catalog.importing.columns import COLUMNS
from imports.pipeline.columns import FileColumn
from imports.serializers.field_mapping import NamedMappingBody
from imports.serializers.fields import CsvLines


class ProductMappingBody(NamedMappingBody):
    def columns(self) -> Mapping[str, FileColumn]:
        return COLUMNS


class ImportProductsBody(ProductMappingBody):
    file_url = Optional(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    url = Optional(max_length=1000, help_text="The same as file_url.")
    data = CsvLines(  # type: ignore[assignment] # `data` is the name in the interface
        required=False, allow_null=True, help_text="Instead of file_url: CSV lines."
    )
    dry_run = Flag(required=False, help_text="Report the expected result and change nothing.")

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        urls = [name for name in ("file_url", "url") if attrs.get(name)]
        if attrs.get("data") and urls:
            raise serializers.ValidationError({"data": f"Give either {urls[0]} or data, not both."})
        if len(urls) == 2 and attrs["file_url"] != attrs["url"]:
            raise serializers.ValidationError({"url": "Means the same as file_url, but differs from it."})
        if not urls and not attrs.get("data"):
            raise serializers.ValidationError({"file_url": ["Give file_url or data."]}, code="required")
        return attrs

    def named_file(self) -> tuple[str, str]:
        """Return the name of the field with the file's path or URL, and the path or URL.

        The path is empty if the body has the CSV lines in `data`.
        """
        field = "file_url" if self.validated_data.get("file_url") else "url"
        return field, self.validated_data.get(field, "")


class AutoProductsBody(ProductMappingBody):
    often_meant: ClassVar[Mapping[str, str]] = names_of_switch("enabled")

    enabled = Flag(required=False)
