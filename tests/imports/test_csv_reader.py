"""CSV files in the forms that spreadsheets write, and the results of their imports."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import pytest

from catalog.models import Variant
from imports.pipeline.csv_reader import Sheet
from imports.pipeline.tolerant_reader import TolerantReader

HEADER = "sku,title,retail_price,description"


def landed(supplier):
    return {each.sku: (each.title, each.retail_price, each.description) for each in supplier.variants.all()}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_any_encoding_and_line_ending_reads_the_same(acme, upload, ran, encoding, newline):
    text = newline.join([HEADER, "A-1,Größe ½ “M”,19.99,über", "A-2,Hat,5,", ""])

    job = ran(acme, file_url=upload(acme, text.encode(encoding)))

    assert job["status"] == "succeeded", job
    assert landed(acme) == {"A-1": ("Größe ½ “M”", Decimal("19.99"), "über"), "A-2": ("Hat", Decimal(5), "")}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_is_found_by_the_names_in_the_header(acme, upload, ran, delimiter):
    rows = [
        ["sku", "title", "retail_price", "images"],
        ["A-1", "Shirt", "19.99", '"https://x.example/a,b;c|d"'],
    ]

    job = ran(acme, file_url=upload(acme, "\n".join(delimiter.join(row) for row in rows)))

    assert (job["rows_total"], job["ignored_columns"]) == (1, [])
    assert set(landed(acme)) <= {"A-1"}


def test_quoted_line_breaks_belong_to_the_cell_and_lines_are_still_right(acme, upload, ran):
    rows = [HEADER, 'A-1,Shirt,1,"one\ntwo\n\nthree"', "A-2,,2,", 'A-3,Hat,3,"a ""b""\r\nc"', "A-4,,4,"]

    job = ran(acme, file_url=upload(acme, "\n".join(rows)))

    assert [e["line"] for e in job["errors"]] == [6, 9]
    assert landed(acme)["A-1"][2] == "one\ntwo\n\nthree"
    assert landed(acme)["A-3"][2] == 'a "b"\r\nc'


def test_a_stray_quote_rejects_its_own_row_and_no_other(acme, upload, ran):
    rows = [
        HEADER,
        'A-1,Pipe 5" wide,1,x',
        'A-2,"Never closed,2,x',
        "A-3,Hat,3,x",
        'A-4,"Shut"x,4,x',
        "A-5,Cap,5,x",
    ]

    job = ran(acme, file_url=upload(acme, "\n".join(rows)))

    assert set(landed(acme)) == {"A-1", "A-3", "A-5"}
    assert landed(acme)["A-1"][0] == 'Pipe 5" wide'
    assert [(e["line"], e["code"]) for e in job["errors"]] == [(3, "open_quote"), (5, "malformed")]


def test_a_line_with_backslash_and_dot_does_not_end_the_file(acme, upload, ran):
    rows = [HEADER, "A-1,Shirt,1,x", "\\.", "A-2,Hat,2,x", 'A-3,Cap,3,"a\n\\.\nb"']

    job = ran(acme, file_url=upload(acme, "\n".join(rows)))

    assert set(landed(acme)) == {"A-1", "A-2", "A-3"}
    assert landed(acme)["A-3"][2] == "a\n\\.\nb"
    assert [(e["line"], e["code"]) for e in job["errors"]] == [(3, "ragged")]


def test_undecodable_and_control_bytes_reject_their_rows_only(acme, upload, ran):
    rows = [
        HEADER.encode(),
        "A-1,Größe,1,x".encode(),
        b"A-2,Gr\xf6\xdfe,2,x",
        b"A-3,N\x00ll,3,x",
        b"A-4,Bell\x07,4,x",
        b"A-5,Fine,5,x",
    ]

    job = ran(acme, file_url=upload(acme, b"\n".join(rows)))

    assert [(e["line"], e["code"]) for e in job["errors"]] == [
        (3, "undecodable"),
        (4, "control"),
        (5, "control"),
    ]
    assert set(landed(acme)) == {"A-1", "A-5"}


def test_a_file_that_ends_in_the_middle_of_a_line_loses_that_row_only(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-1,Shirt,1,x\nA-2,Ha"))

    assert (job["created"], [(e["line"], e["code"]) for e in job["errors"]]) == (1, [(3, "ragged")])


@pytest.mark.parametrize("before", ["", 'A-0,"open,1,x\n'])
def test_a_line_longer_than_any_record_is_refused_alone_and_not_kept_in_memory(
    acme, upload, ran, before, monkeypatch
):
    waiting: list[int] = []
    monkeypatch.setattr(Sheet, "_block", watched(Sheet._block, waiting))
    rows = f"{before}A-1,{'x' * 9_000_000},1,x\nA-2,Hat,2,x\n"

    job = ran(acme, file_url=upload(acme, f"{HEADER}\n{rows}"))

    codes = [(each["line"], each["code"]) for each in job["errors"]]
    assert codes == ([(2, "open_quote")] if before else []) + [(3 if before else 2, "too_long")]
    assert (job["created"], job["rejected"]) == (1, len(codes))
    assert max(waiting) < 4_000_000


def watched(block, waiting):
    """Return a replacement of `_block` that records in a list how many bytes are pending at each call."""

    def counting(sheet, size):
        waiting.append(len(sheet._pending))
        return block(sheet, size)

    return counting


def test_a_carriage_return_outside_of_quotes_is_explained_to_people(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-1,Sh\rirt,1,x\nA-2,Hat,2,x\n"))

    assert set(landed(acme)) == {"A-2"}
    assert job["errors"][0]["message"] == "A cell contains a carriage return but is not in quotes."


@pytest.mark.parametrize(("columns", "status"), [(330, "succeeded"), (499, "failed")])
def test_a_file_with_more_full_columns_than_can_be_kept_says_so(acme, upload, ran, columns, status):
    random = Random(1)  # random bytes cannot be compressed
    cells = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=23)) for _ in range(columns - 3)]
    header = ["sku", "title", "retail_price", *(f"c{index}" for index in range(columns - 3))]

    job = ran(acme, file_url=upload(acme, "\n".join([",".join(header), ",".join(["A-1", "x", "1", *cells])])))

    assert job["status"] == status
    assert (job["error"] or {}).get("code") == {"failed": "too_wide"}.get(status)


def test_an_incomplete_last_line_is_not_judged_yet():
    reader = TolerantReader(b'"a\nb",x\n"c\nd",y', 1, ",", final=False)

    assert [record.cells for record in reader] == [["a\nb", "x"]]
    assert reader.consumed == len(b'"a\nb",x\n')


def test_blank_lines_are_no_records(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\n\nA-1,Shirt,1,x\n\n\nA-2,,2,x\n\n"))

    assert (job["rows_total"], job["created"], [e["line"] for e in job["errors"]]) == (2, 1, [6])


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("", "no_header", "The file is empty."),
        ("\n\n", "no_header", "The file is empty."),
        ("A-1,Shirt,1\nA-2,Hat,2\n", "no_header", "must be the header"),
        (
            "title,retail_price\nShirt,1\n",
            "missing_column",
            "'sku', which every row needs; it has title, retail",
        ),
        ("sku,title,sku\nA-1,Shirt,A-1\n", "duplicate_header", "sku"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "no_header", "must be the header"),
        (b"PK\x03\x04\x14\x00\x06\x00\x08\x00", "damaged_archive", "Pack it again, or send it as CSV"),
        (b"\x1f\x8b\x08\x00broken", "damaged_archive", "cannot be unpacked"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "not_text", "Save it as .xlsx or CSV"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_fails_the_job_and_says_why(acme, upload, ran, content, code, said):
    job = ran(acme, file_url=upload(acme, content))

    assert (job["status"], job["error"]["code"]) == ("failed", code)
    assert said in job["error"]["message"]
    assert not Variant.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Artikelnummer;Preis\nA-1;1\n", "'Artikelnummer;Preis', has no known or mapped column"),
        ('"Nummer";"Preis"\n"A-1";"1"\n', """'"Nummer";"Preis"', has no known or mapped column"""),
        (
            b"sku,title,Gr\xf6\xdfe,\xc3\xbcber\nA-1,Shirt,M,x\n",
            "cannot be read. Character 3 of column 3 is the byte 0xF6",
        ),
        (
            b"sku,ti\x00tle,retail_price\nA-1,Shirt,1\n",
            "cannot be read. Character 3 of column 2 is U+0000, a control character",
        ),
        ('sku,title,"Note\nA-1,Shirt,x\n', "cannot be read. A quote opens and never closes"),
        ("sku,title,retail_price\rA-1,Shirt,1\r", "CR alone"),
    ],
)
def test_a_header_that_cannot_be_read_is_shown_with_the_reason(acme, upload, ran, content, said):
    job = ran(acme, file_url=upload(acme, content))

    assert (job["status"], job["error"]["code"]) == ("failed", "no_header")
    assert said in job["error"]["message"]


@pytest.mark.parametrize("twins", ["sku,SKU", "SKU,sku"])
def test_the_exact_name_wins_among_columns_that_differ_only_in_case(acme, ran, twins):
    cells = {"sku": "A-1", "SKU": "B-1"}
    row = [*(cells[each] for each in twins.split(",")), "Shirt", "1"]

    job = ran(acme, data=[f"{twins},title,retail_price", ",".join(row)])

    assert set(landed(acme)) == {"A-1"}
    assert job["ignored_columns"] == ["SKU"]
    assert job["warnings"] == ["The columns 'SKU' and 'sku' differ in case only; 'sku' was read."]


@pytest.mark.parametrize("mapping", [[], ["sKu:sku"]])
def test_columns_differing_in_case_without_an_exact_name_are_refused(acme, ran, mapping):
    job = ran(acme, data=["SKU,Sku,title,retail_price", "A-1,B-1,Shirt,1"], field_mapping=mapping)

    assert (job["status"], job["error"]["code"]) == ("failed", "duplicate_header")
    assert "'SKU' and 'Sku'" in job["error"]["message"]
    assert not Variant.objects.exists()


def test_a_mapping_chooses_among_columns_that_differ_in_case_only(acme, ran):
    body = {"data": ["SKU,Sku,title,Size,size", "A-1,B-1,x,1,2"], "field_mapping": ["SKU:sku", "Sku:model"]}

    job = ran(acme, math_transformer="retail_price = 1", **body)

    assert (job["status"], job["warnings"], job["ignored_columns"]) == ("succeeded", [], ["Size", "size"])
    assert (Variant.objects.get().sku, Variant.objects.get().model) == ("A-1", "B-1")


@pytest.mark.parametrize("header", ["price,retail_price", "retail_price,price"])
def test_the_canonical_name_of_a_field_wins_over_its_alias_in_any_order(acme, ran, header):
    cells = {"price": "9", "retail_price": "1"}
    row = ["A-1", "x", *(cells[each] for each in header.split(","))]

    job = ran(acme, data=[f"sku,title,{header}", ",".join(row)])

    assert (landed(acme)["A-1"][1], job["ignored_columns"]) == (Decimal(1), ["price"])


def test_the_last_row_of_a_sku_wins_and_the_others_are_counted_and_named(acme, upload, ran):
    rows = [HEADER, "A-1,First,1,", "A-2,Hat,2,", "A-1,Second,1,", " A-1 ,Third,1,"]

    job = ran(acme, file_url=upload(acme, "\n".join(rows)))

    assert landed(acme)["A-1"][0] == "Third"
    assert (job["rows_total"], job["created"], job["duplicates"]) == (4, 2, 2)
    assert "2, 4" in job["warnings"][0]


def test_the_lines_of_the_template_are_skipped_when_they_were_left_in(acme, client_for, upload, ran):
    template = client_for(acme).get("templates/products.csv", Accept="text/csv").content.decode()
    columns = template.splitlines()[0].count(",")

    job = ran(acme, file_url=upload(acme, template + "A-1,,5,,Shirt" + "," * (columns - 4) + "\r\n"))

    assert (job["rows_total"], job["created"], len(job["warnings"])) == (1, 1, 2)
    assert set(landed(acme)) == {"A-1"}


def test_the_example_of_the_template_is_a_row_that_would_land(acme, client_for, ran):
    lines = client_for(acme).get("templates/products.csv").content.decode().splitlines()

    job = ran(acme, data=[lines[0], lines[2].replace("TSHIRT-RED-M", "MINE")])

    assert (job["status"], job["created"]) == ("succeeded", 1), job


@pytest.mark.parametrize(
    ("delimiter", "cells", "prices"),
    [
        (",", ["1.234", "19.99"], ["1.234", "19.99"]),
        (",", ['"1,234"', '"12,5"', '"1,234.50"', '"1.234,50"'], [None, "12.5", "1234.5", "1234.5"]),
        (",", [".5", "5.", "+3", "1e3", "12 000"], ["0.5", "5", "3", None, None]),
        (";", ["1.234", "12,50"], ["1234", "12.5"]),
        (";", ["1.234", "12.50"], ["1.234", "12.5"]),
        (";", ["1.234", "7"], [None, "7"]),
        (";", ["1,234", "12,50"], ["1.234", "12.5"]),
        (";", ["1,234", "12.50"], ["1234", "12.5"]),
        (";", ["1.234", "12,50", "12.50"], [None, "12.5", "12.5"]),
        (";", ["0,125", "1.234.567"], ["0.125", "1234567"]),
        ("\t", ["1.234", "1,234"], ["1.234", None]),
    ],
)
def test_a_number_that_can_be_read_in_two_ways_is_rejected(acme, upload, ran, delimiter, cells, prices):
    rows = [["sku", "title", "retail_price"], *([f"A-{i}", "x", cell] for i, cell in enumerate(cells))]

    ran(acme, file_url=upload(acme, "\n".join(delimiter.join(row) for row in rows)))

    found = {sku: price for sku, (_, price, _) in landed(acme).items()}
    assert found == {f"A-{i}": Decimal(price) for i, price in enumerate(prices) if price is not None}


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("retail_price", "-1", "min_value"),
        ("retail_price", "1.23456", "max_decimal_places"),
        ("retail_price", "12345678901", "max_digits"),
        ("retail_price", "NaN", "not_a_number"),
        ("weight", "heavy", "not_a_number"),
        ("upc", "36000291452", "invalid_barcode"),
        ("upc", "8.42956E+11", "invalid_barcode"),
        ("ean", "4006381333932", "check_digit"),
        ("title", "x" * 501, "too_long"),
        ("sku", "x" * 101, "too_long"),
        ("special_sale_price_start", "2026-02-30", "invalid_date"),
        ("special_sale_price_start", "31.01.2026", "invalid_date"),
        ("listed", "perhaps", "invalid"),
    ],
)
def test_each_kind_of_bad_cell_names_the_remedy(acme, ran, column, cell, code):
    row = {"sku": "A-1", "title": "Shirt", "retail_price": "1", column: cell}

    job = ran(acme, data=[",".join(row), ",".join(row.values())])

    assert [(e["field"], e["code"], e["line"]) for e in job["errors"]] == [(column, code, 2)]
    assert job["errors"][0]["message"]


def test_trailing_zeros_do_not_count_as_decimals_and_dates_may_have_any_offset(acme, ran):
    job = ran(
        acme,
        data=[
            "sku,title,retail_price,special_sale_price_start,special_sale_price_end",
            "A-1,Shirt,19.990000,2026-11-27,2026-12-01T12:00:00+02:00",
        ],
    )

    assert job["status"] == "succeeded", job
    variant = Variant.objects.get()
    assert variant.retail_price == Decimal("19.99")
    assert variant.special_sale_price_end == datetime(2026, 12, 1, 10, tzinfo=UTC)


def test_an_absent_column_leaves_its_field_alone_and_an_empty_cell_clears_it(acme, ran):
    ran(acme, data=["sku,title,retail_price,wholesale_price,description", "A-1,Shirt,5,2,Soft"])

    job = ran(acme, data=["sku,retail_price,wholesale_price", "A-1,6,", "A-2,1,"])

    variant = Variant.objects.get()
    assert (variant.description, variant.retail_price) == ("Soft", Decimal(6))
    assert variant.wholesale_price is None
    assert [(e["line"], e["field"]) for e in job["errors"]] == [(3, "title")]
