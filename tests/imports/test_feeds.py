"""Files of unknown origin: titles above the header, amounts with currencies, broken pictures."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from catalog.models import Variant
from imports.drafts.sample import read_sample

HEADER = "sku,title,retail_price"


def messages(job: dict[str, Any]) -> list[str]:
    return [error["message"] for error in job["errors"]]


def test_a_title_and_blank_lines_above_the_header_are_skipped_with_a_warning(acme, upload, ran):
    content = f"Acme price list\n\nSpring 2026,,\n{HEADER}\nA-1,Shirt,5\nA-2,,5\n"
    job = ran(acme, file_url=upload(acme, content))

    assert (job["status"], job["created"]) == ("succeeded_with_errors", 1)
    assert job["warnings"] == ["Lines 1 to 3 above the header were skipped."]
    assert [error["line"] for error in job["errors"]] == [6]


def test_a_title_above_the_header_of_a_workbook_is_skipped(acme, upload, ran):
    book, file = openpyxl.Workbook(), io.BytesIO()
    shirt, hat = ["A-1", "Shirt", 5], ["A-2", "Hat", "x"]
    for row in (["Price list"], [], HEADER.split(","), shirt, [" "], hat):
        book.active.append(row)
    book.save(file)
    job = ran(acme, file_url=upload(acme, file.getvalue(), "products/list.xlsx"))

    assert (job["created"], [error["line"] for error in job["errors"]]) == (1, [6])
    assert job["warnings"] == [
        "Lines 1 to 2 above the header were skipped.",
        "Line 5 holds only delimiters and blanks; it was skipped.",
    ]


def test_the_line_with_the_most_known_names_is_the_header(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, f"title,our products\n{HEADER}\nA-1,Shirt,5\n"))

    assert (job["created"], job["warnings"]) == (1, ["Line 1 above the header was skipped."])


def test_a_browser_finds_the_header_below_a_title(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("Acme price list\nNummer,Name,\nA-1,Shirt,5\n")

    assert read_sample(path, {"sku"}).header == ["Nummer", "Name", ""]


def test_a_file_without_a_known_name_is_refused_with_the_needed_columns(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, "Nummer;Preis\nA-1;1\n"))

    assert job["error"]["code"] == "no_header"
    assert "needs the columns sku, retail_price, title." in job["error"]["message"]
    assert "map them with field_mapping" in job["error"]["message"]


def test_a_stock_file_without_its_columns_is_refused_with_the_way_to_name_them(acme, stocked):
    job = stocked(acme, "Nummer;Menge\nA-1;1\n")

    assert "needs the columns sku, quantity." in job["error"]["message"]
    assert "id_field and amount_field" in job["error"]["message"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b'<?xml version="1.0"?>\n<rss><item/></rss>', "XML or HTML"),
        (b"\xef\xbb\xbf  <!DOCTYPE html>\n<html>", "XML or HTML"),
        (b'[{"sku": "A-1"}]', "JSON"),
        (b'{\n  "products": []\n}', "JSON"),
    ],
)
def test_the_message_names_the_format_of_an_unsupported_file(acme, upload, ran, content, name):
    job = ran(acme, file_url=upload(acme, content))

    assert job["error"]["code"] == "not_text"
    assert f"This is {name}, not CSV." in job["error"]["message"]


def test_the_message_about_too_many_decimals_says_how_to_round_them(acme, upload, ran):
    path = upload(acme, f"{HEADER}\nA-1,Shirt,5.00001\n")

    [message] = messages(ran(acme, file_url=path))
    rounded = ran(acme, file_url=path, math_transformer="retail_price = round(retail_price, 2)")

    assert "math_transformer: retail_price = round(retail_price, 2)." in message
    assert (rounded["created"], Variant.objects.get().retail_price) == (1, Decimal(5))


def in_currency(supplier, code):
    supplier.currency = code
    supplier.save(update_fields=["currency"])


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("352 AED", "352"),
        ("AED 352.50", "352.5"),
        ('"aed 1,352.50"', "1352.5"),
        ('"AED 12,50"', "12.5"),
        ("12.50\u00a0AED", "12.5"),
        ("AED12.50", "12.5"),
        ("352", "352"),
    ],
)
def test_a_price_may_name_its_currency(acme, upload, ran, cell, amount):
    in_currency(acme, "AED")
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-1,Shirt,{cell}\nA-2,Hat,5 AED\n"))

    assert (job["status"], messages(job)) == ("succeeded", [])
    assert Variant.objects.get(sku="A-1").retail_price == Decimal(amount)


def test_decimal_commas_are_recognized_beside_a_currency(acme, upload, ran):
    in_currency(acme, "EUR")
    content = "sku;title;retail_price\nA-1;Shirt;EUR 1.234\nA-2;Hat;12,50 EUR\n"
    job = ran(acme, file_url=upload(acme, content))

    assert job["created"] == 2
    assert Variant.objects.get(sku="A-1").retail_price == Decimal(1234)


def test_another_currency_than_the_suppliers_is_refused_in_words(acme, upload, ran):
    in_currency(acme, "AED")
    rows = "A-1,Shirt,5 AED\nA-2,Hat,6 AED\nA-3,Cap,7 EUR\nA-4,Tie,8 XYZ\nA-5,Bag,free\n"
    job = ran(acme, file_url=upload(acme, f"{HEADER}\n{rows}"))

    assert (job["created"], [error["code"] for error in job["errors"]]) == (
        2,
        ["currency", "currency", "not_a_number"],
    )
    assert "is not in AED, the supplier's currency. Prices are not converted." in messages(job)[0]
    assert "has no known currency." in messages(job)[1]


def test_the_column_currency_is_checked_and_not_converted(acme, upload, ran):
    rows = "A-1,Shirt,5,EUR\nA-2,Hat,6,usd\nA-3,Cap,7,\n"
    content = f"{HEADER},currency\n{rows}"
    jobs = [ran(acme, file_url=upload(acme, content)) for _ in range(2)]

    assert [(job["created"], job["unchanged"], job["rejected"]) for job in jobs] == [(2, 0, 1), (0, 2, 1)]
    assert messages(jobs[1]) == ["'EUR': is not USD, the supplier's currency. Prices are not converted."]
    assert jobs[1]["errors"][0]["field"] == "currency"


def test_a_fraction_in_a_currency_without_one_is_refused(acme, upload, ran):
    in_currency(acme, "JPY")
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-1,Shirt,10.5\nA-2,Hat,1000 JPY\nA-3,Cap,10.0\n"))

    assert (job["created"], [error["code"] for error in job["errors"]]) == (2, ["max_decimal_places"])
    assert "retail_price must be a whole number, because JPY has no fraction" in messages(job)[0]


def test_a_quantity_has_no_currency(acme, stocked):
    job = stocked(acme, "sku,quantity\nA-1,5 EUR\n")

    assert [error["code"] for error in job["errors"]] == ["not_a_number"]


def test_a_wrong_picture_is_left_out_with_a_warning_and_the_row_lands(acme, upload, ran):
    pictures = "https://pics.example/1.jpg|ftp://pics.example/2.jpg|see catalogue"
    rows = f"A-1,Shirt,5,{pictures}\nA-2,Hat,6,mug.jpg\nA-3,Cap,7,https://pics.example/3.jpg\n"
    job = ran(acme, file_url=upload(acme, f"{HEADER},images\n{rows}"))

    assert (job["status"], job["created"]) == ("succeeded", 3)
    assert [variant.images for variant in Variant.objects.order_by("sku")] == [
        "https://pics.example/1.jpg",
        "",
        "https://pics.example/3.jpg",
    ]
    [warning] = job["warnings"]
    assert warning.startswith("2 rows were imported without some pictures")
    assert warning.endswith("lines 2, 3.")


def test_wrong_pictures_of_several_columns_are_left_out(acme, ran):
    mapping = ["sku:sku", "title:title", "retail_price:retail_price", "a:images", "b:images"]
    data = [f"{HEADER},a,b", "A-1,Shirt,5,https://pics.example/1.jpg,mug.jpg", "A-2,Hat,5,mug.jpg,"]
    job = ran(acme, data=data, field_mapping=mapping)

    assert [variant.images for variant in Variant.objects.order_by("sku")] == [
        "https://pics.example/1.jpg",
        "",
    ]
    assert len(job["warnings"]) == 1
