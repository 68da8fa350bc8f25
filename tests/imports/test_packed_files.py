"""Files from spreadsheets and servers: workbooks, gzip, zip, recognized by their content."""

from __future__ import annotations

import gzip
import io
import zipfile
from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace

import pytest
from openpyxl import Workbook

from catalog.models import Variant
from imports.pipeline.cells_as_shown import as_shown
from inventory.models import StockLevel
from tests.imports.test_bounded_workbooks import changed

CSV = "sku,title,retail_price\nA-1,Größe,19.99\nA-2,Hat,5\n"


def zipped(**files: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return packed.getvalue()


def workbook(*rows, formats=(), sheets=()) -> bytes:
    """Make a workbook with rows in the first sheet. `formats` are pairs of a cell and its number format."""
    book = Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cell, number_format in formats:
        sheet[cell].number_format = number_format
    for title in sheets:
        book.create_sheet(title).append(["nothing"])
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


@pytest.mark.parametrize("name", ["products/file.csv.gz", "products/file.csv", "products/file"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_gzipped_csv_of_any_name_is_read(acme, upload, ran, name, encoding):
    job = ran(acme, file_url=upload(acme, gzip.compress(CSV.encode(encoding)), name))

    assert (job["status"], job["created"]) == ("succeeded", 2), job
    assert Variant.objects.get(sku="A-1").title == "Größe"


def test_a_zip_with_one_csv_is_read(acme, upload, ran):
    content = zipped(export__products_CSV=CSV, export__readme_md="x", __MACOSX___products_csv=b"\0\0")

    assert ran(acme, file_url=upload(acme, content))["created"] == 2


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "it holds no file"),
        ({"a_csv": CSV, "b_csv": CSV}, "it holds 'a.csv', 'b.csv'"),
        ({"a_png": b"x", "b_pdf": b"x"}, "must hold one CSV file"),
    ],
)
def test_a_zip_without_one_csv_lists_its_files(acme, upload, ran, files, said):
    job = ran(acme, file_url=upload(acme, zipped(**files)))

    assert (job["status"], job["error"]["code"]) == ("failed", "not_text")
    assert said in job["error"]["message"]


@pytest.mark.parametrize("packed", [gzip.compress, lambda data: zipped(a_csv=data)])
def test_an_archive_that_unpacks_too_large_is_refused_before_it_is_stored(
    acme, upload, ran, settings, packed
):
    settings.IMPORT_UNPACKED_BYTES = 3_000_000
    row = b"A-1,Shirt,1\n"

    job = ran(acme, file_url=upload(acme, packed(b"sku,title,retail_price\n" + row * 400_000)))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_large")
    assert not Variant.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(CSV.encode() * 5000)[:-20],
        zipped(a_csv=CSV * 5000)[:-20],
        zipped(xl__workbook_xml="<a"),
        zipped(a_csv=gzip.compress(CSV.encode())),
    ],
)
def test_a_damaged_archive_fails_the_job_and_says_so(acme, upload, ran, content):
    job = ran(acme, file_url=upload(acme, content))

    assert (job["status"], job["error"]["code"] in ("damaged_archive", "not_text")) == ("failed", True), job
    assert not Variant.objects.exists()


def test_a_workbooks_first_sheet_is_read_with_its_own_row_numbers(acme, upload, ran, client_for):
    content = workbook(
        ["sku", "title", "retail_price", "description", None],
        ["A-1", "Shirt", 19.99, "one\ntwo\nthree"],
        [None, None, " ", None],
        ["A-2", "", 5],
        ["A-3", "Cap", 7.5, None, None],
        ["A-4", "Tie", 7.5, None, None, "beyond"],
        sheets=["Prices"],
    )

    job = ran(acme, file_url=upload(acme, content, "products/file.xlsx"))

    assert [(each["line"], each["code"]) for each in job["errors"]] == [(4, "required"), (6, "ragged")]
    assert (job["rows_total"], job["created"]) == (4, 2)
    assert Variant.objects.get(sku="A-1").description == "one\ntwo\nthree"
    assert Variant.objects.get(sku="A-3").retail_price == Decimal("7.5")
    assert job["warnings"] == [
        "The workbook has 2 sheets; the first, 'Sheet', was read.",
        "Line 3 holds only delimiters and blanks; it was skipped.",
    ]
    report = b"".join(client_for(acme).get(f"imports/{job['id']}/errors").streaming_content).decode()
    assert report.splitlines()[2].endswith("A-4,Tie,7.5,,,beyond")


def test_stock_is_imported_from_a_workbook_and_leading_zeros_are_kept(acme, a_variant, upload, ran):
    a_variant(acme, "00123")
    a_variant(acme, "00456")
    content = workbook(["sku", "quantity"], [123, 7], ["00456", "8"], formats=[("A2", "00000")])
    warehouse = acme.warehouses.get(is_default=True)

    job = ran(
        acme,
        "importInventory",
        url=upload(acme, content, "inventory/stock.xlsx"),
        file_type="csv",
        warehouse_id=warehouse.pk,
    )

    assert (job["status"], job["created"]) == ("succeeded", 2), job
    assert dict(StockLevel.objects.values_list("variant__sku", "on_hand")) == {"00123": 7, "00456": 8}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "is empty"),
        ([["Artikel", "Preis"], ["A-1", 5]], "'Artikel, Preis', has no known or mapped column"),
        ([["sku", "ti\ufffdtle"]], "Character 3 of column 2 is U+FFFD"),
    ],
)
def test_a_workbook_without_a_header_says_so(acme, upload, ran, rows, said):
    job = ran(acme, file_url=upload(acme, workbook(*rows)))

    assert (job["status"], job["error"]["code"]) == ("failed", "no_header")
    assert said in job["error"]["message"]


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (123, "00000", "00123"),
        (123, "General", "123"),
        (19.99, "General", "19.99"),
        (0.1 + 0.2, "General", "0.3"),
        (842956000000, "0.00E+00", "842956000000"),
        (1234.5, "#,##0.00", "1234.50"),
        (1234.5, '#,##0.00\\ "€"', "1234.50"),
        (1234.5, "[$$-409]#,##0.00;[Red]-#,##0.00", "1234.50"),
        (-3.456, "0.00", "-3.46"),
        (-0.001, "0.00", "0.00"),
        (2.5, "0.0##", "2.5"),
        (2, "0.###", "2"),
        (0.125, "0.0%", "12.5%"),
        (42, '"SKU-"0000', "SKU-0042"),
        (12345678, "000-00-000", "123-45-678"),
        (12345678, r"000\-00\-000", "123-45-678"),
        (7, "00 00", "00 07"),
        (1234567, '000"-"0000;@', "123-4567"),
        (123456789, r'"A;_"00\_##', "A;_1234567_89"),
        (1234.56, "# ##0.00", "1234.56"),
        (1234.56, r'#\ ##0.00\ "zł"', "1234.56"),
        (1234, "#,##0,", "1234"),
        (12345678, '0.0,,"M"', "12345678"),
        (0.5, ".00", "0.50"),
        (42, "0000.", "0042"),
        (1.5, f"0.{'#' * 30}", "1.5"),
        (7, "@", "7"),
        (999999999999999, "0", "999999999999999"),
        (1234567890123456, "0", "1234567890123456"),
        (1e21, "General", "1E+21"),
        (1234567890123456789, "0", "1.23456789012346E+18"),
        (10**400, "000000", "1E+400"),
        (True, "General", "TRUE"),
        ("00123", "General", "00123"),
        ("#N/A", "General", "#N/A"),
        (None, "General", ""),
        (datetime.fromisoformat("2026-01-31"), "dd.mm.yyyy", "2026-01-31"),
        (datetime.fromisoformat("2026-01-31T09:30"), "dd.mm.yyyy hh:mm", "2026-01-31T09:30:00"),
        (date(2026, 1, 31), "d/m/yy", "2026-01-31"),
    ],
)
def test_cells_are_read_as_a_spreadsheet_shows_them(value, number_format, shown):
    assert as_shown(SimpleNamespace(value=value, number_format=number_format)) == shown


@pytest.mark.parametrize("number_format", ["General", "0", "00000000000000000000"])
@pytest.mark.parametrize("number", [1234567890123450, 1.2345678901234568e18])
def test_a_sku_whose_last_digits_the_workbook_lost_rejects_its_row(acme, upload, ran, number, number_format):
    sheet = workbook(
        ("sku", "title", "retail_price"),
        (number, "Hat", 5),
        (123456789012345, "Cap", 6),
        formats=[("A2", number_format)],
    )

    job = ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))

    assert [(each["line"], each["field"], each["code"]) for each in job["errors"]] == [
        (2, "sku", "damaged_text")
    ]
    assert "was rounded by a spreadsheet; format the column as text." in job["errors"][0]["message"]
    assert Variant.objects.get().sku == "123456789012345"


def test_a_formula_without_a_stored_result_rejects_its_row(acme, upload, ran, errors_csv):
    ran(acme, data=["sku,title,retail_price,description", "A-1,Hat,1,old", "A-2,Cap,2,old"])
    sheet = workbook(("sku", "retail_price", "description"), ("A-1", 5, '="x"&"y"'), ("A-2", 6, "new"))

    job = ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))

    assert [(each["line"], each["field"], each["code"]) for each in job["errors"]] == [
        (2, "description", "no_result")
    ]
    assert job["errors"][0]["message"].startswith("description is a formula without a stored result.")
    assert list(Variant.objects.order_by("sku").values_list("description", flat=True)) == ["old", "new"]
    assert errors_csv(acme, job)[1] == [["A-1", "5", "\ufffd"]]


def test_a_formula_whose_stored_result_is_an_empty_text_is_an_empty_cell(acme, upload, ran):
    ran(acme, data=["sku,title,retail_price,description", "A-1,Hat,1,old"])
    sheet = workbook(("sku", "description"), ("A-1", '=""'))
    stored = changed(
        sheet, {"xl/worksheets/sheet1.xml": lambda data: data.replace(b'r="B2"', b'r="B2" t="str"')}
    )

    job = ran(acme, file_url=upload(acme, stored, "products/a.xlsx"))

    assert (job["updated"], Variant.objects.get().description) == (1, "")


def test_a_header_that_is_a_formula_without_a_stored_result_is_named(acme, upload, ran):
    sheet = workbook(("sku", "=A1"), ("A-1", 5))

    job = ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))

    assert "column 2 is a formula without a stored result." in job["error"]["message"]


def test_a_title_above_the_header_may_hold_a_formula_without_a_stored_result(acme, upload, ran):
    sheet = workbook(("Price list of", "=TODAY()"), ("sku", "title", "retail_price"), ("A-1", "Hat", 5))

    job = ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))

    assert (job["status"], job["created"]) == ("succeeded", 1), job["error"]
    assert job["warnings"] == ["Line 1 above the header was skipped."]


def test_a_row_wider_than_any_header_keeps_all_its_cells(acme, upload, ran, errors_csv):
    wide = ["A-1", "Hat", "1", *map(str, range(700))]

    job = ran(
        acme, file_url=upload(acme, workbook(["sku", "title", "retail_price"], wide), "products/a.xlsx")
    )

    assert [(each["line"], each["message"]) for each in job["errors"]] == [
        (2, "Has 703 cells where the header has 3.")
    ]
    assert errors_csv(acme, job)[1] == [wide]


def test_the_number_of_columns_of_a_too_wide_header_is_the_files_own(acme, upload, ran):
    sheet = workbook(["sku", "title", "retail_price", *(f"c{at}" for at in range(700))], ["A-1", "Hat", 1])

    job = ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))

    assert job["error"]["message"].startswith("The header has 703 columns;")


def test_cells_that_only_have_a_format_do_not_widen_their_row(acme, upload, ran, monkeypatch):
    monkeypatch.setattr("imports.pipeline.workbook.MOST_CELLS", 1_000)
    sheet = workbook(("sku", "title", "retail_price"), ("A-1", "Hat", 1), formats=[("XFD2", "0.00")])

    assert ran(acme, file_url=upload(acme, sheet, "products/a.xlsx"))["created"] == 1


def test_values_far_to_the_right_count_as_cells_of_the_workbook(acme, upload, ran, monkeypatch):
    monkeypatch.setattr("imports.pipeline.workbook.MOST_CELLS", 1_000)
    far = [*[None] * 2_000, "x"]

    job = ran(acme, file_url=upload(acme, workbook(("sku",), ("A-1",), far), "products/a.xlsx"))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_large")
