"""Exports and feeds of further shop systems are imported unchanged, by the service's own mappings."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import Variant
from imports.shop_exports import BUILT_IN, recognise

PIC = "https://pics.example/{}.jpg"
GOOGLE = (
    "id,title,description,link,image_link,additional_image_link,availability,price,sale_price,gtin,brand,mpn,"
    "condition,item_group_id,color,size,shipping_weight"
)
ETSY = (
    "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS,MATERIALS,IMAGE1,IMAGE2,VARIATION 1 TYPE,"
    "VARIATION 1 NAME,VARIATION 1 VALUES,SKU"
)
WIX = (
    "handleId,fieldType,name,description,productImageUrl,collection,sku,ribbon,price,surcharge,visible,"
    "discountMode,discountValue,inventory,weight,cost,productOptionName1,productOptionType1,"
    "productOptionDescription1,brand"
)
PRESTASHOP = (
    "Product ID;Active (0/1);Name *;Categories (x,y,z...);Price tax excluded;Wholesale price;Reference #;"
    "Manufacturer;EAN13;Weight;Summary;Description;Image URLs (x,y,z...)"
)
BIGCOMMERCE = (
    "Item Type,Product ID,Product Name,Product Type,Product Code/SKU,Brand Name,Product Description,Price,"
    "Cost Price,Sale Price,Product Weight,Product Visible?,Product Image File - 1,Product UPC/EAN"
)
AMAZON_FILE = (
    "item_sku,item_name,external_product_id,external_product_id_type,brand_name,product_description,"
    "standard_price,bullet_point1,bullet_point2,main_image_url,other_image_url1,parent_child,parent_sku,"
    "color_name,size_name"
)
AMAZON_REPORT = "item-name,item-description,listing-id,seller-sku,price,quantity,image-url,product-id,status"


def sheet(header: str, *rows: dict[str, Any], delimiter: str = ",") -> str:
    """Return a file with these rows, which list only their non-empty cells."""
    out = io.StringIO()
    names = header.split(";" if ";" in header else ",")
    writer = csv.DictWriter(out, names, restval="", delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def landed(acme, upload, ran):
    """Return a function that imports a file with `auto`. It returns the job and the variants by sku."""

    def go(content: str) -> tuple[dict[str, Any], dict[str, Variant]]:
        job = ran(acme, file_url=upload(acme, content), mapping="auto")
        return job, {variant.sku: variant for variant in Variant.objects.all()}

    return go


def test_a_google_feed_lands_with_its_currency_and_pictures(landed):
    row = {"title": "Tee", "description": "Cotton", "link": "https://shop.example/tee", "condition": "new"}
    row |= {"image_link": PIC.format(1), "additional_image_link": f"{PIC.format(2)},{PIC.format(3)}"}
    row |= {
        "availability": "in_stock",
        "brand": "Acme",
        "item_group_id": "TEE",
        "color": "Red",
        "shipping_weight": "3 kg",
    }
    row |= {"gtin": "4006381333931"}
    job, found = landed(
        sheet(
            GOOGLE,
            {
                **row,
                "id": "TEE-S",
                "price": "15.00 USD",
                "sale_price": "12.50 USD",
                "size": "S",
                "color": "Red",
            },
            {**row, "id": "TEE-M", "price": "15 USD", "size": "M"},
        )
    )
    tee = found["TEE-S"]

    assert (job["status"], job["created"]) == ("succeeded", 2)
    assert (tee.model, tee.retail_price, tee.special_sale_price) == ("TEE", Decimal(15), Decimal("12.5"))
    assert tee.images == "|".join(map(PIC.format, (1, 2, 3)))
    assert {pair["type"]: pair["value"] for pair in tee.options} == {"size": "S", "color": "Red"}
    assert (tee.ean, tee.properties) == ("4006381333931", [{"name": "brand", "value": "Acme"}])


def test_a_feed_for_meta_differs_from_a_feed_for_google():
    names = GOOGLE.split(",")
    in_a_spreadsheet = [name.replace("_", " ") for name in names]

    google, facebook = recognise(names), recognise([*names, "fb_product_category"])

    assert (google and google.name, facebook and facebook.name) == ("google", "facebook")
    assert recognise(in_a_spreadsheet) is google


def test_an_etsy_listing_lands_and_one_with_variations_is_skipped(landed):
    mug = {"TITLE": "Mug", "DESCRIPTION": "Clay", "PRICE": "24.00", "CURRENCY_CODE": "USD", "SKU": "MUG"}
    mug |= {"IMAGE1": PIC.format(1), "IMAGE2": PIC.format(2), "MATERIALS": "clay,glaze"}
    several = {**mug, "SKU": "A,B", "VARIATION 1 TYPE": "Color", "VARIATION 1 VALUES": "Blue,Green"}
    job, found = landed(sheet(ETSY, mug, several))

    assert (job["created"], set(found)) == (1, {"MUG"})
    assert found["MUG"].images == "|".join(map(PIC.format, (1, 2)))
    assert any("'VARIATION 1 TYPE': line" in warning for warning in job["warnings"])


def test_variants_of_wix_take_the_texts_of_their_product(landed):
    tee = {"handleId": "tee", "fieldType": "Product", "name": "Tee", "price": "20", "visible": "true"}
    tee |= {"productImageUrl": f"a1_b2.jpg;{PIC.format(2)}", "brand": "Acme"}
    tee |= {"productOptionName1": "Size", "productOptionType1": "DROP_DOWN"}
    tee |= {"productOptionDescription1": "S;M;XL"}
    variant = {"handleId": "tee", "fieldType": "Variant"}
    job, found = landed(
        sheet(
            WIX,
            tee,
            {**variant, "sku": "TEE-S", "productOptionDescription1": "S"},
            {**variant, "productOptionDescription1": "M", "surcharge": "0"},
            {**variant, "productOptionDescription1": "XL", "surcharge": "5.0"},
            {"handleId": "mug", "fieldType": "Product", "name": "Mug", "price": "8", "sku": "MUG"},
        )
    )

    assert set(found) == {"TEE-S", "tee-M", "MUG"}
    small = found["TEE-S"]
    assert (small.title, small.retail_price, small.model) == ("Tee", Decimal(20), "tee")
    assert small.options == [{"type": "size", "value": "S"}]
    assert small.images == f"https://static.wixstatic.com/media/a1_b2.jpg|{PIC.format(2)}"
    assert [error["code"] for error in job["errors"]] == ["no_variant"]
    assert any("'surcharge': line" in warning for warning in job["warnings"])


def test_prestashops_products_land_with_a_sku_by_id_if_they_have_no_reference(landed):
    row = {"Active (0/1)": "1", "Name *": "Mug", "Price tax excluded": "7,90", "Manufacturer": "Acme"}
    row |= {"Image URLs (x,y,z...)": f"{PIC.format(1)},{PIC.format(2)}", "Weight": "0,300"}
    content = sheet(
        PRESTASHOP,
        {**row, "Product ID": "7", "Reference #": "MUG", "EAN13": "4006381333931"},
        {**row, "Product ID": "8", "Active (0/1)": "0"},
        delimiter=";",
    )
    job, found = landed(content)

    assert (job["status"], set(found)) == ("succeeded", {"MUG", "prestashop-8"})
    assert (found["MUG"].retail_price, found["MUG"].ean) == (Decimal("7.9"), "4006381333931")
    assert found["MUG"].images == "|".join(map(PIC.format, (1, 2)))
    assert (found["MUG"].listed, found["prestashop-8"].listed) == (True, False)


def test_bigcommerces_products_land_without_the_rows_of_their_options(landed):
    row = {"Item Type": "Product", "Product Name": "Mug", "Price": "8.50", "Cost Price": "4"}
    row |= {"Product Visible?": "Y", "Product Image File - 1": "a/mug.jpg", "Brand Name": "Acme"}
    job, found = landed(
        sheet(
            BIGCOMMERCE,
            {**row, "Product ID": "5", "Product Code/SKU": "MUG", "Product UPC/EAN": "036000291452"},
            {"Item Type": "SKU", "Product Name": "[S]Size=L", "Product Code/SKU": "MUG-L"},
        )
    )

    assert (job["created"], set(found)) == (1, {"MUG"})
    assert (found["MUG"].wholesale_price, found["MUG"].upc) == (Decimal(4), "036000291452")
    assert any("'Item Type': line" in warning for warning in job["warnings"])


def test_amazons_inventory_file_lands_below_its_two_first_lines(landed):
    child = {"item_name": "Tee", "external_product_id": "4006381333931", "standard_price": "19.99"}
    child |= {"bullet_point1": "Cotton", "bullet_point2": "Fair", "main_image_url": PIC.format(1)}
    child |= {"parent_child": "child", "parent_sku": "TEE", "color_name": "Red", "brand_name": "Acme"}
    above = "TemplateType=fptcustom,Version=2024\r\nSeller SKU,Product Name,Product ID\r\n"
    rows = ({"item_sku": "TEE", "item_name": "Tee", "parent_child": "parent"}, {**child, "item_sku": "TEE-R"})
    job, found = landed(above + sheet(AMAZON_FILE, *rows))

    assert (job["created"], [error["code"] for error in job["errors"]]) == (1, ["no_variant"])
    assert (found["TEE-R"].model, found["TEE-R"].ean) == ("TEE", "4006381333931")
    assert found["TEE-R"].description_bullets == ["Cotton", "Fair"]
    assert "Lines 1 to 2 above the header were skipped." in job["warnings"]


def test_amazons_listings_report_lands(landed):
    row = {
        "item-name": "Mug",
        "seller-sku": "MUG",
        "price": "8.5",
        "product-id": "B000000000",
        "quantity": "3",
    }
    job, found = landed(sheet(AMAZON_REPORT, {**row, "listing-id": "L1"}, delimiter="\t"))

    assert (job["status"], found["MUG"].retail_price) == ("succeeded", Decimal("8.5"))
    assert (found["MUG"].id_in_source, found["MUG"].ean) == ("L1", "")


def test_each_mapping_of_the_service_has_its_own_name_and_number():
    assert len({export.id for export in BUILT_IN.values()}) == len(BUILT_IN) == 10
    assert max(export.id for export in BUILT_IN.values()) < 1000


ROW = ["No,Name,Price,gtin", "A-1,Shirt,5,WRONG"]
MAPPED = [{"source_field": "No", "destination_field": "sku"}, "Name:title"]


@pytest.mark.parametrize(
    "mapping",
    [
        [*MAPPED, {"source_field": None, "destination_field": "gtin"}],
        {"sku": "No", "title": "Name", "gtin": None},
    ],
)
def test_a_field_can_be_left_out_of_a_mapping(acme, ran, mapping):
    job = ran(acme, data=ROW, field_mapping=mapping)

    assert (job["status"], job["created"], job["ignored_columns"]) == ("succeeded", 1, ["gtin"])


def test_a_field_of_a_saved_mapping_can_be_left_out_and_is_shown_as_such(acme, client_for, ran):
    client = client_for(acme)
    body = {"name": "mine", "field_mapping": {"sku": "No", "title": "Name", "upc": "gtin"}}
    assert client.post("mappings", body).status_code == 201

    job = ran(acme, data=ROW, mapping="mine", field_mapping={"upc": None, "gtin": None})
    saved = client.post("mappings", {"name": "other", "field_mapping": {"sku": "No", "gtin": None}}).json()

    assert (job["status"], job["created"]) == ("succeeded", 1)
    assert {"source_field": None, "destination_field": "gtin"} in saved["field_mapping"]
    assert client.put(f"mappings/{saved['id']}", {**saved, "name": "other"}).json() == saved | {
        "updated_at": client.get(f"mappings/{saved['id']}").json()["updated_at"]
    }


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"sku": None}, "sku cannot be left out: every row needs it."),
        ({"colour": None}, "There is no field 'colour'"),
        (["Name:title", {"source_field": None, "destination_field": "title"}], "both filled and left out"),
    ],
)
def test_a_wrong_omission_is_refused(acme, client_for, mapping, said):
    answer = client_for(acme).post("importProducts", {"data": ROW, "field_mapping": mapping})

    assert answer.status_code == 400
    assert said in answer.json()["errors"][0]["message"]
