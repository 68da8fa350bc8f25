"""Exports of shop systems are imported unchanged, by the service's own mappings."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import Variant

SHOPIFY = [
    *("Handle", "Title", "Body (HTML)", "Vendor", "Option1 Name", "Option1 Value", "Option2 Name"),
    *("Option2 Value", "Variant SKU", "Variant Grams", "Variant Price", "Variant Barcode", "Image Src"),
    *("Image Position", "Gift Card", "Variant Image", "Status"),
]
NEW_SHOPIFY = [
    *(
        "Title",
        "URL handle",
        "Description",
        "Vendor",
        "Published on online store",
        "Status",
        "SKU",
        "Barcode",
    ),
    *("Option1 name", "Option1 value", "Price", "Weight value (grams)", "Product image URL"),
    *("Image position", "Variant image URL", "Gift card"),
]
WOO = [
    *("ID", "Type", "SKU", "Name", "Published", "Short description", "Description", "Weight (lbs)"),
    *("Sale price", "Regular price", "Images", "Parent", "Attribute 1 name", "Attribute 1 value(s)"),
    *("Attribute 2 name", "Attribute 2 value(s)", "Meta: _wpcom_is_markdown"),
]
MAGENTO = [
    *("sku", "store_view_code", "attribute_set_code", "product_type", "categories", "name", "description"),
    *("weight", "product_online", "price", "base_image", "additional_images", "additional_attributes"),
    *("configurable_variations", "qty"),
]
PIC = "https://pics.example/{}.jpg"


def lines(header: list[str], *rows: dict[str, Any], delimiter: str = ",") -> list[str]:
    """Return a file with these rows, which list only their non-empty cells."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return [out.getvalue()]


def variants() -> dict[str, Variant]:
    return {each.sku: each for each in Variant.objects.order_by("id")}


def shirt(**more: Any) -> dict[str, Any]:
    """Return the first row of a product, as Shopify writes it."""
    first = {"Handle": "shirt", "Title": "Linen shirt", "Body (HTML)": "<p>Cool,\nand <b>light</b>.</p>"}
    first |= {"Vendor": "Acme", "Option1 Name": "Size", "Option1 Value": "S", "Option2 Name": "Fabric"}
    first |= {"Option2 Value": "Linen", "Variant Grams": "200", "Variant Price": "50.00"}
    first |= {"Image Src": PIC.format("front"), "Image Position": "1", "Status": "active"}
    return first | more


def test_a_shopify_export_without_skus_lands_whole(acme, ran):
    job = ran(
        acme,
        mapping="shopify",
        data=lines(
            SHOPIFY,
            shirt(),
            {"Handle": "shirt", "Option1 Value": "M", "Option2 Value": "Linen", "Variant Price": "52.00"}
            | {"Image Src": PIC.format("back"), "Image Position": "2", "Variant Image": PIC.format("m")},
            {"Handle": "shirt", "Image Src": PIC.format("side"), "Image Position": "3"},
            {"Handle": "hat", "Title": "Hat", "Option1 Name": "Title", "Option1 Value": "Default Title"}
            | {"Variant Price": "9", "Image Src": PIC.format("hat"), "Status": "draft"},
        ),
    )

    assert (job["status"], job["rows_total"], job["created"]) == ("succeeded", 3, 3), job
    found = variants()
    assert list(found) == ["shirt-S-Linen", "shirt-M-Linen", "hat"]
    small, medium, hat = found.values()
    assert (medium.title, medium.model, medium.description) == (
        "Linen shirt",
        "shirt",
        "<p>Cool,\nand <b>light</b>.</p>",
    )
    gallery = "|".join(PIC.format(each) for each in ("front", "back", "side"))
    assert (small.images, medium.images) == (gallery, f"{PIC.format('m')}|{gallery}")
    assert medium.options == [{"type": "size", "value": "M"}]
    assert medium.properties == [
        {"name": "Fabric", "value": "Linen"},
        {"name": "vendor", "value": "Acme"},
    ]
    assert (small.weight, small.listed, hat.listed) == (Decimal("0.2"), True, False)
    assert (hat.options, hat.properties, hat.images) == ([], [], PIC.format("hat"))
    assert job["warnings"] == ["1 row holds only a picture of its product and was added to it: line 5."]


def test_wrong_rows_of_a_shopify_export_are_rejected_by_line_and_can_be_corrected(acme, client_for, ran):
    data = lines(
        SHOPIFY,
        shirt(),
        {"Handle": "shirt", "Option1 Value": "M", "Variant Price": "about 50"},
        {"Handle": "shirt", "Option1 Value": "L", "Variant Price": "55"},
        {"Title": "Nobody's", "Variant Price": "1"},
    )

    job = ran(acme, mapping="shopify", data=data)

    assert [(each["line"], each["field"], each["code"]) for each in job["errors"]] == [
        (4, "retail_price", "not_a_number"),
        (6, "sku", "required"),
    ], job["errors"]
    report = b"".join(client_for(acme).get(f"imports/{job['id']}/errors").streaming_content).decode()
    mended = ran(acme, mapping="shopify", data=[report.replace("about 50", "50")])
    assert (mended["created"], mended["rejected"]) == (1, 1), mended
    assert variants()["shirt-M"].title == "Linen shirt"


def test_the_same_export_again_changes_nothing(acme, ran):
    body = {
        "mapping": "shopify",
        "data": lines(SHOPIFY, shirt(), {"Handle": "shirt", "Image Src": PIC.format("b")}),
    }
    ran(acme, **body)

    assert ran(acme, **body)["unchanged"] == 1


def test_the_columns_that_shopify_has_had_since_2024_are_known_too(acme, ran):
    job = ran(
        acme,
        mapping="shopify",
        data=lines(
            NEW_SHOPIFY,
            {"Title": "Lamp", "URL handle": "lamp", "Description": "Shines", "SKU": "L-1", "Price": "45"}
            | {"Option1 name": "Farbe", "Option1 value": "Blau", "Weight value (grams)": "450"}
            | {"Product image URL": PIC.format(1), "Published on online store": "TRUE"}
            | {"Barcode": "036000291452"},
            {"URL handle": "lamp", "Option1 value": "Rot", "Price": "45", "Variant image URL": PIC.format(2)},
            {"Title": "Gift card", "URL handle": "gift", "Option1 name": "Denominations"}
            | {"Option1 value": "$10.00", "Price": "10", "Gift card": "true", "Status": "active"},
        ),
    )

    assert job["status"] == "succeeded", job
    found = variants()
    assert list(found) == ["L-1", "lamp-Rot", "gift-$10.00"]
    assert (found["L-1"].upc, found["L-1"].weight) == ("036000291452", Decimal("0.45"))
    assert found["lamp-Rot"].options == [{"type": "color", "value": "Rot"}]
    assert found["lamp-Rot"].images == f"{PIC.format(2)}|{PIC.format(1)}"


def vneck(**more: Any) -> dict[str, Any]:
    parent = {"ID": "44", "Type": "variable", "SKU": "vneck", "Name": "V-neck", "Published": "1"}
    parent |= {"Description": "Soft, they say", "Weight (lbs)": ".5", "Images": PIC.format("all")}
    parent |= {"Attribute 1 name": "Color", "Attribute 1 value(s)": "Blue, Red"}
    return parent | more


def test_a_woocommerce_export_lands_except_the_rows_that_are_no_variants(acme, ran):
    job = ran(
        acme,
        mapping="woocommerce",
        data=lines(
            WOO,
            vneck(),
            {"ID": "46", "Type": "simple, virtual", "SKU": "cap", "Name": "Cap", "Published": "-1"}
            | {"Regular price": "18", "Sale price": "16", "Weight (lbs)": "2"}
            | {"Images": f"{PIC.format(1)}, {PIC.format(2)}", "Attribute 1 name": "Material"}
            | {"Attribute 1 value(s)": "Cotton, Wool", "Meta: _wpcom_is_markdown": "1"},
            {"ID": "76", "Type": "variation", "SKU": "vneck-red", "Name": "V-neck - Red", "Parent": "vneck"}
            | {"Regular price": "20", "Images": PIC.format("red"), "Published": "1"}
            | {"Attribute 1 name": "Color", "Attribute 1 value(s)": "Red", "Attribute 2 name": "Size"},
            {"ID": "77", "Type": "variation", "Name": "V-neck - Blue", "Parent": "vneck", "Published": "1"}
            | {"Regular price": "20", "Attribute 1 name": "Color", "Attribute 1 value(s)": "Blue"},
        ),
    )

    [error] = job["errors"]
    assert (error["line"], error["field"], error["code"]) == (2, "Type", "no_variant")
    # The price is not reported, because a parent row has no price.
    assert error["message"] == (
        "'variable': a row of this Type is a parent, the product of variants. The variants have rows of"
        " their own, with sku and price, and land without this row. You need not correct it."
    )
    assert "Type" not in job["ignored_columns"]
    found = variants()
    assert list(found) == ["cap", "vneck-red", "woo-77"]
    cap, red, blue = found.values()
    assert (cap.listed, cap.retail_price, cap.special_sale_price) == (False, Decimal(18), Decimal(16))
    assert cap.weight == Decimal("0.9072")
    assert cap.images == f"{PIC.format(1)}|{PIC.format(2)}"
    assert cap.properties == [{"name": "Material", "value": each} for each in ("Cotton", "Wool")]
    assert (red.model, red.options) == ("vneck", [{"type": "color", "value": "Red"}])
    assert (red.description, red.images, red.weight) == (
        "Soft, they say",
        PIC.format("red"),
        Decimal("0.2268"),
    )
    assert blue.images == PIC.format("all")  # the image of its parent, not of another variant


def test_a_variation_finds_its_parent_by_id_in_any_order(acme, ran):
    child = {"ID": "77", "Type": "variation", "SKU": "b", "Name": "Blue", "Parent": "id:44"}
    child |= {"Regular price": "20"}

    ran(acme, mapping="woocommerce", data=lines(WOO, child, vneck(SKU="")))

    assert variants()["b"].description == "Soft, they say"


def test_a_parent_with_a_price_is_no_variant_either(acme, ran):
    job = ran(acme, mapping="woocommerce", data=lines(WOO, vneck(**{"Regular price": "20"})))

    [error] = job["errors"]
    assert (error["field"], error["code"]) == ("Type", "no_variant")
    assert not variants()


@pytest.mark.parametrize(
    ("header", "price"),
    [
        ("ID;Typ;Artikelnummer;Name;Beschreibung;Gewicht (kg);Regulärer Preis;Bilder", "19,90"),
        ("ID;Type;UGS;Nom;Description;Poids (kg);Tarif régulier;Images", "19.90"),
        ("ID;Tipo;SKU;Nombre;Descripción;Peso (kg);Precio normal;Imágenes", "19,90"),
    ],
)
def test_woocommerce_exports_in_other_languages_are_read(acme, ran, header, price):
    row = f"7;simple;W-1;Lampe;Schön;0.5;{price};{PIC.format(1)}"

    job = ran(acme, mapping="auto", data=[header, row])

    assert job["status"] == "succeeded", job
    lamp = variants()["W-1"]
    assert (lamp.title, lamp.retail_price, lamp.description) == ("Lampe", Decimal("19.9"), "Schön")
    assert (lamp.weight, lamp.images) == (Decimal("0.5"), PIC.format(1))


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("ID;Typ;Artikelnummer;Name;Regulärer Preis;Übergeordnetes Produkt", "Typ"),
        ("ID;Type;UGS;Nom;Tarif régulier;Parent", "Type"),
        ("ID;Tipo;SKU;Nombre;Precio normal;Superior", "Tipo"),
    ],
)
def test_a_parent_is_known_in_each_of_its_languages(acme, ran, header, kind):
    rows = ["7;variable;W;Lampe;;", "8;variation;W-1;Lampe, rot;19,90;W"]

    job = ran(acme, mapping="auto", data=[header, *rows])

    assert [(each["line"], each["field"], each["code"]) for each in job["errors"]] == [
        (2, kind, "no_variant")
    ]
    assert [each.model for each in variants().values()] == ["W"]


def test_a_magento_export_lands_in_the_language_of_its_main_store(acme, ran):
    bag = {
        "sku": "BAG-S",
        "attribute_set_code": "Bag",
        "product_type": "simple",
        "name": "Bag",
        "price": "34",
    }
    bag |= {"product_online": "2", "base_image": "/b/a/bag.jpg", "weight": "1.2", "description": "<p>Big</p>"}
    bag |= {"additional_images": f"/b/a/bag.jpg,{PIC.format(1)}", "qty": "100"}
    bag |= {"additional_attributes": "color=Black,size=S,activity=Gym|Hiking,eco=__EMPTY__VALUE__"}
    group = {"sku": "BAG", "product_type": "configurable", "name": "Bag", "attribute_set_code": "Bag"}
    german = {"sku": "BAG-S", "store_view_code": "de", "product_type": "simple", "name": "Tasche"}

    job = ran(acme, mapping="magento", data=lines(MAGENTO, bag, group, german))

    assert [(each["line"], each["code"]) for each in job["errors"]] == [(3, "no_variant")]
    assert "'configurable': a row of this product_type is a parent" in job["errors"][0]["message"]
    assert (job["rows_total"], job["created"], job["duplicates"]) == (2, 1, 0)
    assert "1 row was skipped, because the mapping does not read its 'store_view_code'" in job["warnings"][0]
    found = variants()["BAG-S"]
    assert (found.title, found.listed, found.images) == ("Bag", False, PIC.format(1))
    assert found.options == [{"type": "color", "value": "Black"}, {"type": "size", "value": "S"}]
    assert found.properties == [{"name": "activity", "value": each} for each in ("Gym", "Hiking")]


def test_magentos_pictures_are_completed_by_the_shops_address(acme, ran):
    row = {"sku": "A", "product_type": "simple", "name": "A", "price": "1", "base_image": "/b/a.jpg"}
    pictures = {
        "source_field": "base_image",
        "destination_field": "images",
        "relative_urls": "https://shop.example/media/catalog/product/",
    }

    ran(acme, mapping="magento", field_mapping=[pictures], data=lines(MAGENTO, row))

    assert variants()["A"].images == "https://shop.example/media/catalog/product/b/a.jpg"


def test_a_certain_header_is_applied_only_with_auto_and_otherwise_suggested(acme, ran):
    data = lines(SHOPIFY, shirt())

    refused, taken = ran(acme, data=data), ran(acme, data=data, mapping="auto")

    assert refused["status"] == "failed"
    assert refused["error"]["message"].endswith(
        'The header is that of an export (Shopify, products). Use "mapping": "shopify" to read it as one.'
    )
    assert (taken["created"], taken["warnings"]) == (
        1,
        [
            "The header is that of an export (Shopify, products); it was read with the saved"
            " mapping 'shopify'."
        ],
    )
    suggested = ran(acme, data=lines(WOO, {"ID": "1", "SKU": "shirt-S-Linen", "Description": "New"}))
    assert 'Use "mapping": "woocommerce" to read it as one' in suggested["warnings"][0]
    assert variants()["shirt-S-Linen"].retail_price == Decimal(50)
