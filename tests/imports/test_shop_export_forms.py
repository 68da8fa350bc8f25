"""Real forms of shop exports: all columns, other languages, and files saved by a spreadsheet program."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import Variant

MAGENTO = [
    *("sku", "store_view_code", "attribute_set_code", "product_type", "categories"),
    *("product_websites", "name", "description", "short_description", "weight", "product_online"),
    *("tax_class_name", "visibility", "price", "special_price", "special_price_from_date"),
    *("special_price_to_date", "url_key", "base_image", "base_image_label", "created_at"),
    *("additional_attributes", "qty", "is_in_stock", "website_id", "additional_images"),
    *("configurable_variations", "configurable_variation_labels", "associated_skus"),
]
SHOPIFY = [
    *("Title", "URL handle", "Description", "Vendor", "Product category", "Type", "Tags"),
    *("Published on online store", "Status", "SKU", "Barcode", "Option1 name", "Option1 value"),
    *("Option1 Linked To", "Option2 name", "Option2 value", "Price", "Compare-at price", "Cost per item"),
    *("Inventory quantity", "Continue selling when out of stock", "Weight value (grams)"),
    *("Weight unit for display", "Product image URL", "Image position", "Variant image URL", "Gift card"),
]
PIC = "https://pics.example/{}.jpg"


def sheet(header: list[str], *rows: dict[str, Any], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def variants() -> dict[str, Variant]:
    return {each.sku: each for each in Variant.objects.order_by("id")}


def magento(sku: str, kind: str = "simple", **more: Any) -> dict[str, Any]:
    row = {"sku": sku, "product_type": kind, "attribute_set_code": "Top", "product_websites": "base,outlet"}
    row |= {"categories": "Default Category/Women,Default Category/Women/Tops", "name": f"Tee {sku}"}
    row |= {"price": "29.000000", "weight": "0.5000", "product_online": "1", "website_id": "0"}
    return row | {"created_at": "7/26/19, 8:21 AM", "qty": "100.0000"} | more


def test_magentos_rows_of_each_kind_land_or_give_a_reason(acme, ran):
    family = "sku=TEE-S,size=S|sku=TEE-M,size=M"
    text = sheet(
        MAGENTO,
        magento(
            "TEE-S", additional_attributes="color=Blue,size=S,care=Wash cold, dry flat,pattern=Solid|Striped"
        ),
        magento("TEE-M", additional_attributes='color="Blue",size="M",care="Wash cold, dry flat"'),
        {"sku": "TEE-M", "store_view_code": "de", "name": "Hemd M"},
        {"store_view_code": "fr", "name": "Chemise M"},
        magento("TEE", "configurable", configurable_variations=family, price=""),
        magento("SET", "grouped", associated_skus="TEE-S=1,TEE-M=1", price=""),
        magento("GIFT", "virtual", weight=""),
        magento("FREE", price=""),
        {"additional_images": "/b/a/back.jpg"},
    )

    job = ran(acme, mapping="auto", data=[text])

    found = variants()
    assert list(found) == ["TEE-S", "TEE-M", "GIFT"], job["errors"]
    small, medium = found["TEE-S"], found["TEE-M"]
    assert (small.title, small.retail_price, small.weight) == ("Tee TEE-S", Decimal(29), Decimal("0.5"))
    assert medium.title == "Tee TEE-M"
    assert [each["value"] for each in small.options] == ["Blue", "S"]
    assert [each["value"] for each in medium.options] == ["Blue", "M"]
    assert {"name": "care", "value": "Wash cold, dry flat"} in small.properties
    assert medium.properties == [{"name": "care", "value": "Wash cold, dry flat"}]
    refused = [(each["line"], each["field"], each["code"]) for each in job["errors"]]
    assert refused == [
        (6, "product_type", "no_variant"),
        (7, "product_type", "no_variant"),
        (9, "retail_price", "required"),
        (10, "sku", "required"),
    ]
    assert (
        "2 rows were skipped, because the mapping does not read their 'store_view_code'"
        in job["warnings"][-1]
    )


def test_shopifys_newer_columns_land_whole(acme, ran):
    first = {"Title": "Lamp", "URL handle": "lamp", "Description": "<p>Shines</p>", "Vendor": "Acme"}
    first |= {"Published on online store": "TRUE", "Status": "Active", "SKU": "L-1", "Option1 name": "Color"}
    first |= {"Option1 value": "Blue", "Price": "45.00", "Weight value (grams)": "450", "Gift card": "FALSE"}
    first |= {"Product image URL": PIC.format(1), "Image position": "1", "Inventory quantity": "7"}
    second = {"URL handle": "lamp", "SKU": "L-2", "Option1 value": "Red", "Price": "47.00"}
    picture = {"URL handle": "lamp", "Product image URL": PIC.format(2), "Image position": "2"}

    job = ran(acme, mapping="auto", data=[sheet(SHOPIFY, first, second, picture)])

    assert (job["status"], job["created"], job["rejected"]) == ("succeeded", 2, 0), job
    blue, red = variants().values()
    assert (red.title, red.model, red.retail_price, red.listed) == ("Lamp", "lamp", Decimal(47), True)
    assert blue.images == red.images == f"{PIC.format(1)}|{PIC.format(2)}"
    assert blue.options == [{"type": "color", "value": "Blue"}]


GERMAN = "ID;Typ;Artikelnummer;GTIN, UPC, EAN oder ISBN;Name;Veröffentlicht;Kurzbeschreibung;Beschreibung;"
GERMAN += "Angebotspreis;Regulärer Preis;Bilder;Übergeordnetes Produkt;Gewicht (kg);"
GERMAN += "Attribut 1 Name;Attribut 1 Wert(e)"
GERMAN_ROWS = [
    "7;variable;TASSE;;Tasse;1;Heiß;Groß & schön;;;{pic};;0,35;Farbe;Blau, Grün",
    "8;variation;TASSE-B;4006381333931;Tasse – Blau;1;;;9,50;12,90;;TASSE;;Farbe;Blau",
    "9;variation;TASSE-G;;Tasse – Grün;1;;;;1.012,90;;TASSE;;Farbe;Grün",
]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_german_woocommerce_export_that_a_spreadsheet_saved_lands(acme, upload, ran, encoding):
    text = "\r\n".join([GERMAN, *(each.format(pic=PIC.format(1)) for each in GERMAN_ROWS), ""])

    job = ran(acme, mapping="auto", file_url=upload(acme, text.encode(encoding)))

    assert [(each["line"], each["field"], each["code"]) for each in job["errors"]] == [
        (2, "Typ", "no_variant")
    ]
    blue, green = variants().values()
    assert (blue.retail_price, blue.special_sale_price, blue.ean) == (
        Decimal("12.9"),
        Decimal("9.5"),
        "4006381333931",
    )
    assert (green.retail_price, green.description, green.weight) == (
        Decimal("1012.9"),
        "Groß & schön",
        Decimal("0.35"),
    )
    assert green.options == [{"type": "color", "value": "Grün"}]
    assert (green.model, green.images) == ("TASSE", PIC.format(1))


def test_woocommerces_scheduled_sales_and_unpublished_products_land(acme, upload, ran):
    header = ["ID", "Type", "SKU", "Name", "Published", "Date sale price starts", "Date sale price ends"]
    header += ["Sale price", "Regular price", "Parent"]
    simple = {"Type": "simple", "Regular price": "20"}
    sale = {"Sale price": "15", "Date sale price starts": "2026-11-27 0:00:00"}
    sale |= {"Date sale price ends": "2026-11-30 23:59:59"}
    content = sheet(
        header,
        simple | sale | {"ID": "1", "SKU": "on-sale", "Name": "Cap", "Published": "1"},
        simple | {"ID": "2", "SKU": "draft", "Name": "Belt", "Published": "-1"},
        simple | {"ID": "3", "SKU": "escaped-draft", "Name": "Hat", "Published": "'-1"},
        simple | {"ID": "4", "SKU": "in-review", "Name": "Scarf", "Published": "2"},
    )

    job = ran(acme, mapping="woocommerce", file_url=upload(acme, content))

    assert (job["created"], job["rejected"]) == (4, 0), job["errors"]
    found = variants()
    assert [each.listed for each in found.values()] == [True, False, False, False]
    assert found["on-sale"].special_sale_price_start == datetime(2026, 11, 27, tzinfo=UTC)
    assert found["on-sale"].special_sale_price_end == datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)


def test_a_barcode_that_shopify_marks_as_text_keeps_its_leading_zero(acme, upload, ran):
    row = {"Title": "Mug", "URL handle": "mug", "SKU": "MUG-1", "Price": "9", "Option1 name": "Title"}
    content = sheet(SHOPIFY, row | {"Barcode": "'036000291452"})

    job = ran(acme, mapping="shopify", file_url=upload(acme, content))

    assert (job["created"], job["rejected"]) == (1, 0), job["errors"]
    assert variants()["MUG-1"].upc == "036000291452"
    assert ran(acme, mapping="shopify", file_url=upload(acme, content))["unchanged"] == 1
