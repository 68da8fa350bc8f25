"""The columns of a product file, and the model field of each column."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg.sql import Identifier

from catalog.gtin import EAN, GTIN, UPC
from catalog.models import Variant
from catalog.serializers import LONG
from imports.pipeline.barcode_columns import Barcode
from imports.pipeline.columns import FileColumn, FlagColumn, Lines, MomentColumn, Pairs, TextColumn, Urls
from imports.pipeline.number_columns import CurrencyColumn, NumberColumn

PRICES = ("retail_price", "wholesale_price")
_COLUMNS: tuple[FileColumn, ...] = (
    TextColumn("sku", required=True, example="TSHIRT-RED-M", longest=100, is_key=True),
    TextColumn("model", example="TSHIRT", longest=100, is_key=True),
    NumberColumn("retail_price", required=True, example="19.99", is_price=True),
    NumberColumn("wholesale_price", example="11.50", is_price=True),
    TextColumn("title", required=True, example="T-shirt, red, M", longest=500),
    TextColumn("description", example="Cotton, made to last.", longest=LONG),
    TextColumn("description_extra", example="Wash at 30 degrees.", longest=LONG),
    Barcode("upc", example="036000291452", lengths=UPC),
    Barcode("ean", example="4006381333931", lengths=EAN),
    TextColumn("id_in_source", example="10045", longest=100),
    NumberColumn("weight", example="0.25"),
    Urls("images", example="https://example.com/1.jpg|https://example.com/2.jpg"),
    NumberColumn("special_sale_price", example="14.99", is_price=True),
    MomentColumn("special_sale_price_start", example="2026-11-27T00:00:00Z"),
    MomentColumn("special_sale_price_end", example="2026-12-01T00:00:00Z"),
    Lines("description_bullets", example="Pure cotton|Fair trade"),
    FlagColumn("listed", hidden=True),
    Barcode("gtin", hidden=True, lengths=GTIN),
    CurrencyColumn("currency", hidden=True),
    Pairs("option", hidden=True, key="type", choices=("color", "size", "width")),
    Pairs("property", hidden=True, key="name"),
)
COLUMNS: Mapping[str, FileColumn] = {column.name: column for column in _COLUMNS}
# Columns of a file whose model field has another name.
STORED = {"option": "options", "property": "properties"}
# Fields that are checked and not stored.
CHECKED = {"currency"}
# A GTIN of these lengths is also a UPC or an EAN.
OF_GTIN = {"upc": "(12)", "ean": "(8, 13)"}
TABLE = Identifier(Variant._meta.db_table)


def column_of(field: str) -> Identifier:
    return Identifier(STORED.get(field, field))
