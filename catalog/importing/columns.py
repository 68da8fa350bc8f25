"""The columns of a product file, and the field that stores each."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg.sql import Identifier

from catalog.gtin import EAN, GTIN, UPC
from catalog.models import Variant
from catalog.serializers import LONG
from imports.pipeline.barcode_columns import Barcode
from imports.pipeline.columns import Column, Flag, Lines, Moment, Pairs, Text, Urls
from imports.pipeline.number_columns import Number

PRICES = ("retail_price", "wholesale_price")
_COLUMNS: tuple[Column, ...] = (
    Text("sku", required=True, example="TSHIRT-RED-M", longest=100, is_key=True),
    Text("model", example="TSHIRT", longest=100, is_key=True),
    Number("retail_price", required=True, example="19.99"),
    Number("wholesale_price", example="11.50"),
    Text("title", required=True, example="T-shirt, red, M", longest=500),
    Text("description", example="Cotton, made to last.", longest=LONG),
    Text("description_extra", example="Wash at 30 degrees.", longest=LONG),
    Barcode("upc", example="036000291452", lengths=UPC),
    Barcode("ean", example="4006381333931", lengths=EAN),
    Text("id_in_source", example="10045", longest=100),
    Number("weight", example="0.25"),
    Urls("images", example="https://example.com/1.jpg|https://example.com/2.jpg"),
    Number("special_sale_price", example="14.99"),
    Moment("special_sale_price_start", example="2026-11-27T00:00:00Z"),
    Moment("special_sale_price_end", example="2026-12-01T00:00:00Z"),
    Lines("description_bullets", example="Pure cotton|Fair trade"),
    Flag("listed", hidden=True),
    Barcode("gtin", hidden=True, lengths=GTIN),
    Pairs("option", hidden=True, key="type", choices=("color", "size", "width")),
    Pairs("property", hidden=True, key="name"),
)
COLUMNS: Mapping[str, Column] = {column.name: column for column in _COLUMNS}
# Columns of a file whose model field has another name.
STORED = {"option": "options", "property": "properties"}
# A GTIN of these lengths is also a UPC or an EAN.
OF_GTIN = {"upc": "(12)", "ean": "(8, 13)"}
TABLE = Identifier(Variant._meta.db_table)


def column_of(field: str) -> Identifier:
    return Identifier(STORED.get(field, field))
