"""Bodies of stock imports (interface 9.2, contract 6 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar

from rest_framework import serializers

from api.bodies import names_of_switch
from api.fields import Flag, Id, Optional, Text
from imports.serializers.counted import CountedAt
from imports.serializers.fields import FileTypeBody
from imports.shop_exports import OF_STOCK

SAID_BY_MAPPING = ("id_field", "id_type", "warehouse_field")
ID_TYPES = ("sku", "upc", "ean", "id_in_source", "variant_id")


class StockMappingBody(FileTypeBody):
    """The columns of a stock file, and the warehouse of its stock."""

    protocol = Optional(max_length=20, help_text="`SFTP`, in any case.")
    amount_field = Optional(max_length=200, help_text="The column with quantities; default quantity.")
    id_field = Optional(max_length=200, help_text="The column with identifiers; default sku.")
    id_type = Optional(max_length=20, help_text=f"One of {', '.join(ID_TYPES)}; default sku.")
    warehouse_id = Id(required=False, allow_null=True)
    warehouse_field = Optional(max_length=200, help_text="A column with the warehouse's id or exact name.")
    mapping = Optional(
        max_length=50,
        help_text="`shopify`: an inventory export of Shopify. Its locations are your warehouses of the same"
        " names. With it, give no other column than `amount_field`, and `warehouse_id` only if the file is"
        " of one location.",
    )
    mode = Optional(
        max_length=10,
        help_text="`delta` (default), or `full`: variants that the file does not name become 0.",
    )
    as_of = CountedAt(
        required=False,
        allow_null=True,
        help_text="The time of the count; by default the end of the upload. An older count is refused.",
    )

    def validate_protocol(self, value: str) -> str:
        if value and value.lower() != "sftp":
            raise serializers.ValidationError("Must be SFTP.", code="invalid_choice")
        return value

    def validate_id_type(self, value: str) -> str:
        if value and value.lower() not in ID_TYPES:
            raise serializers.ValidationError(f"Must be one of {', '.join(ID_TYPES)}.", code="invalid_choice")
        return value.lower() or "sku"

    def validate_mode(self, value: str) -> str:
        if value and value.lower() not in ("delta", "full"):
            raise serializers.ValidationError("Must be delta or full.", code="invalid_choice")
        return value.lower() or "delta"

    def validate_mapping(self, value: str) -> str:
        if value and value not in OF_STOCK:
            message = f"There is no mapping of stock files {value!r}; there are {', '.join(OF_STOCK)}."
            raise serializers.ValidationError(message, code="unknown")
        return value

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if attrs.get("mapping"):
            also_given = [name for name in SAID_BY_MAPPING if attrs.get(name) and attrs[name] != "sku"]
            if also_given:
                raise serializers.ValidationError({also_given[0]: "Leave it out: the mapping defines it."})
            return attrs
        if attrs.get("warehouse_id") and attrs.get("warehouse_field"):
            raise serializers.ValidationError(
                {"warehouse_field": "Give either this or warehouse_id, not both."}
            )
        if not attrs.get("warehouse_id") and not attrs.get("warehouse_field"):
            raise serializers.ValidationError(
                {"warehouse_id": ["Give warehouse_id or warehouse_field."]}, code="required"
            )
        return attrs

    def options(self) -> dict[str, object]:
        """Return the options that the job stores."""
        data = self.validated_data
        as_of = data.get("as_of")
        mapping = data.get("mapping", "")
        export = OF_STOCK[mapping] if mapping else None
        return {
            **({"mapping": mapping} if mapping else {}),
            "id_field": export.id_field if export else data.get("id_field") or "sku",
            "amount_field": data.get("amount_field") or ("" if export else "quantity"),
            "id_type": data.get("id_type") or "sku",
            "warehouse_id": data.get("warehouse_id"),
            "warehouse_field": data.get("warehouse_field", ""),
            "mode": data.get("mode") or "delta",
            "as_of": as_of.isoformat() if as_of else None,
        }


class ImportInventoryBody(StockMappingBody):
    url = Text(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    dry_run = Flag(required=False, help_text="Report the expected result and change nothing.")

    def named_file(self) -> tuple[str, str]:
        """Return the field with the file's path or URL, and its text."""
        return "url", self.validated_data["url"]


class AutoInventoryBody(StockMappingBody):
    often_meant: ClassVar[Mapping[str, str]] = names_of_switch("enabled")

    enabled = Flag(required=False)

    def validate_as_of(self, value: datetime | None) -> None:
        if value is not None:
            raise serializers.ValidationError(
                "Cannot be saved for future files: each counts from the end of its own upload."
            )
