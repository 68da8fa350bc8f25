"""Saved mappings and the row options of a mapping (contract 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from rest_framework import serializers

from api.bodies import Body
from api.fields import Array, Optional, Text
from api.renderers import iso
from imports.kinds import kind_with_mappings
from imports.models import SavedMapping
from imports.pipeline.row_shape import PLACEHOLDER
from imports.shop_exports import BUILT_IN
from imports.shop_exports.export import ShopExport

MOST_FIELDS = 100
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
BY_PRODUCT = ("repeat_fields", "picture_fields", "variant_fields", "parent_fields")


def names(help_text: str, longest: int = 200) -> Array:
    return Array(child=Text(max_length=longest), required=False, max_length=MOST_FIELDS, help_text=help_text)


class ChosenRowsBody(Body):
    """A choice of rows by the cells of one column."""

    field = Text(max_length=200, help_text="The column; `A|B` is the first one that the file has.")
    values = Array(
        child=Text(max_length=200, allow_blank=True), max_length=MOST_FIELDS, help_text="Its cells."
    )


class RowsBody(Body):
    """The meaning of a file's rows. Columns that the file does not have are ignored."""

    product_fields = names(
        "Columns that name a row's product, or templates such as `id:{ID}`; the first that is not empty"
        " counts. A new product begins where it changes. Rows in which all are empty belong to the product"
        " above."
    )
    parent_fields = names(
        "Columns that name a row's parent by its product_fields. The parent may be anywhere in the file."
    )
    repeat_fields = names(
        "Columns whose empty cells take the value of the row above within a product, or of the parent's row"
        " if there are parent_fields."
    )
    picture_fields = names(
        "Columns with pictures. Every variant gets the pictures of all rows of its product."
    )
    variant_fields = names("Columns of a variant. A row in which all of them are empty has only a picture.")
    blank_values = names("Cells with exactly this text count as empty, such as `Default Title`.")
    only_rows = ChosenRowsBody(required=False, help_text="Only rows with one of these cells are read.")
    group_rows = ChosenRowsBody(
        required=False,
        help_text="Rows with one of these cells are products. Their variants have rows of their own.",
    )
    sku_template = Optional(
        max_length=500,
        help_text="The template of a sku for rows without one: `{Handle}-{Option1 Value}`. `{A|B}` is the"
        " first column that the file has. An empty cell omits the text before it; the first cell must not"
        " be empty.",
    )

    def validate_sku_template(self, value: str) -> str:
        if value and (not PLACEHOLDER.search(value) or re.search("[{}]", PLACEHOLDER.sub("", value))):
            raise serializers.ValidationError(
                "Must name columns in braces, such as {Handle}-{Option1 Value}."
            )
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, object]:
        given = [name for name in BY_PRODUCT if attrs.get(name)]
        if given and not attrs.get("product_fields"):
            message = f"{given[0]} needs product_fields, which tell which rows belong to one product."
            raise serializers.ValidationError({"product_fields": [message]}, code="required")
        if attrs.get("variant_fields") and not attrs.get("picture_fields"):
            message = "variant_fields need picture_fields, the columns with the pictures."
            raise serializers.ValidationError({"picture_fields": [message]}, code="required")
        for key in ("only_rows", "group_rows"):
            if attrs.get(key):
                attrs[key] = {name: attrs[key][name] for name in ("field", "values")}
        return {name: value for name, value in attrs.items() if value}


class MappingRowsJson(TypedDict):
    """The meaning of a file's rows; absent options have no effect."""

    product_fields: NotRequired[list[str]]
    parent_fields: NotRequired[list[str]]
    repeat_fields: NotRequired[list[str]]
    picture_fields: NotRequired[list[str]]
    variant_fields: NotRequired[list[str]]
    blank_values: NotRequired[list[str]]
    only_rows: NotRequired[dict[str, Any]]
    group_rows: NotRequired[dict[str, Any]]
    sku_template: NotRequired[str]


class MappingJson(TypedDict):
    """A saved mapping. A `built_in` mapping belongs to the service and cannot be changed."""

    id: int
    name: str
    title: str
    kind: str
    built_in: bool
    field_mapping: list[dict[str, Any]]
    math_transformer: str
    rows: MappingRowsJson
    created_at: str | None
    updated_at: str | None


class MappingsJson(TypedDict):
    """All mappings that a supplier may name. The built-in mappings come first."""

    next: str | None
    previous: str | None
    results: list[MappingJson]


def mapping_json(saved: SavedMapping | ShopExport) -> MappingJson:
    own = isinstance(saved, SavedMapping)
    options = saved.options
    return {
        "id": saved.pk if isinstance(saved, SavedMapping) else saved.id,
        "name": saved.name,
        "title": saved.name if isinstance(saved, SavedMapping) else saved.title,
        "kind": saved.kind if isinstance(saved, SavedMapping) else kind_with_mappings().name,
        "built_in": not own,
        "field_mapping": [*map(entry_json, options.get("field_mapping", [])), *left_out_json(options)],
        "math_transformer": options.get("math_transformer", ""),
        "rows": options.get("rows", {}),
        "created_at": iso(saved.created_at) if isinstance(saved, SavedMapping) else None,
        "updated_at": iso(saved.updated_at) if isinstance(saved, SavedMapping) else None,
    }


def left_out_json(options: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return an element of `field_mapping` for each field that the mapping leaves out."""
    return [{"source_field": None, "destination_field": name} for name in options.get("left_out", ())]


def entry_json(entry: dict[str, Any]) -> dict[str, object]:
    """Return an entry in the form of a request, so that it can be sent again."""
    target = entry["field"] + (f".{entry['subtype']}" if entry.get("subtype") else "")
    others = {name: value for name, value in entry.items() if name not in ("source", "field", "subtype")}
    return {"source_field": entry["source"], "destination_field": target, **others}


def validate_name(value: str) -> str:
    """Check the name of a supplier's mapping. Raises ValidationError."""
    if not NAME.fullmatch(value):
        raise serializers.ValidationError("Must be lower-case letters, digits, - and _.", code="invalid")
    if value in BUILT_IN or value == "auto":
        raise serializers.ValidationError("Is the name of a mapping of the service.", code="mapping_exists")
    return value
