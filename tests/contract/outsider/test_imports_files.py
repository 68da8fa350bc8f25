"""Product files: encodings, delimiters, wrong rows, decimal commas, and sources (contract 6 and 12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import fault, unique, well
from .imports import HEADER, counts, from_file, imported
from .steps import import_lines, variant_by_sku


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom", "cp1252"]
)
@pytest.mark.parametrize("parted", [",", ";", "\t", "|"])
def test_files_with_usual_encodings_and_delimiters_are_read(acme, area, encoding, parted):
    """Contract 6: files are UTF-8 (with or without a byte order mark), UTF-16 or Windows-1252.

    The delimiter is a comma, semicolon, tab or pipe.
    """
    sku = unique("P")
    title = "Lämpchen größer € 5" if encoding == "cp1252" else "Lämpchen größer 光"
    text = f"sku,title,retail_price\r\n{sku},{title},19.99\r\n".replace(",", parted)
    content = {
        "utf-16-le-bom": lambda: b"\xff\xfe" + text.encode("utf-16-le"),
        "utf-16-be-bom": lambda: b"\xfe\xff" + text.encode("utf-16-be"),
    }.get(encoding, lambda: text.encode(encoding))()
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1}, job
    made = variant_by_sku(acme, sku)
    assert (made["title"], made["retail_price"]) == (title, Decimal("19.99"))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_all_line_endings_are_read(acme, area, ending, last):
    """Contract 6: lines end with CRLF or LF, and the last line may have no line ending."""
    text = f"{HEADER}\n{unique('P')},x,1\n{unique('P')},y,2" + ("\n" if last else "")
    assert counts(from_file(acme, area, text.replace("\n", ending).encode())) == {"created": 2}


def test_quoted_newlines_count_as_physical_lines(acme, area):
    """Contract 6: a quoted cell may contain newlines.

    Contract 12: `line` is the line of the file on which a record starts. The header is line 1.
    """
    one = unique("P")
    text = f'{HEADER}\n{one},"two\nlines, and ""quotes""",1\n{unique("P")},x,bad\n\n{unique("P")},x,worse\n'
    job = from_file(acme, area, text.encode())
    assert counts(job) == {"created": 1, "rejected": 2}, job
    assert [error["line"] for error in job["errors"]] == [4, 6]
    assert variant_by_sku(acme, one)["title"] == 'two\nlines, and "quotes"'


def test_ragged_rows_are_rejects_not_failures(acme):
    """Contract 6: rows with too few or too many cells are rejected, and the job does not fail."""
    job = import_lines(acme, HEADER, f"{unique('P')},x", f"{unique('P')},x,1,2,3", f"{unique('P')},x,1")
    assert job["status"] == "succeeded_with_errors"
    assert counts(job) == {"created": 1, "rejected": 2}
    assert [error["line"] for error in job["errors"]] == [2, 3]


def test_an_undecodable_row_is_a_reject(acme, area):
    """Contract 6: a row that cannot be decoded is rejected, and the job does not fail."""
    good = unique("P")
    content = (
        b"\xef\xbb\xbf"
        + f"{HEADER}\n{good},ü,1\n".encode()
        + f"{unique('P')},".encode()
        + b"\xff\xfe\xfa,1\n"
    )
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert job["errors"][0]["line"] == 3


def test_an_over_long_row_is_a_reject(acme, area):
    """Contract 6: a row that is too long is rejected, and the job does not fail."""
    content = f"{HEADER}\n{unique('P')},{'x' * 3_000_000},1\n{unique('P')},x,1\n".encode()
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert job["errors"][0]["line"] == 2


def test_a_nul_in_a_cell_is_a_reject(acme, area):
    """Contract 6: a row with a NUL character is rejected and reported."""
    job = from_file(acme, area, f"{HEADER}\n{unique('P')},a\0b,1\n{unique('P')},x,1\n".encode())
    assert counts(job) == {"created": 1, "rejected": 1}, job


def test_the_templates_own_lines_are_skipped_with_a_warning(acme):
    """Contract 6: lines 2 and 3 of the template are recognized in a file.

    They are skipped with a warning.
    """
    lines = acme.get("templates/products.csv").raw.decode("utf-8-sig").splitlines()
    assert len(lines) == 3
    width = len(lines[0].split(","))
    columns = lines[0].split(",")
    cells = {"sku": unique("P"), "title": "x", "retail_price": "1"}
    row = ",".join(cells.get(column, "") for column in columns)
    job = import_lines(acme, *lines, row)
    assert counts(job) == {"created": 1}, (job, width)
    assert job["warnings"]


@pytest.mark.parametrize(
    ("parted", "cells", "prices"),
    [
        (",", ["1.234"], ["1.234"]),
        (",", ['"1,234"'], [None]),
        (";", ["1,50"], ["1.5"]),
        (";", ["1,234"], [None]),
        (";", ["1.234"], [None]),
        (";", ["1.234", "1.5"], ["1.234", "1.5"]),
        (";", ["1,234", "1,5"], ["1.234", "1.5"]),
        (";", ["1.234,56"], ["1234.56"]),
        (",", ['"1,234.56"'], ["1234.56"]),
        (";", ["19.99"], ["19.99"]),
    ],
    ids=str,
)
def test_decimal_points_and_commas_are_read(acme, area, parted, cells, prices):
    """Contract 6:

    `.` separates the decimals, and `,` also does so in a file with semicolons. A number such as `1,234` is
    ambiguous: the other cells of its column decide, or its row is rejected.
    """
    skus = [unique("P") for _ in cells]
    text = "\n".join(
        [
            HEADER.replace(",", parted),
            *[parted.join([sku, "x", cell]) for sku, cell in zip(skus, cells, strict=True)],
        ]
    )
    from_file(acme, area, text.encode())
    for sku, price in zip(skus, prices, strict=True):
        made = variant_by_sku(acme, sku)
        assert (made and made["retail_price"]) == (price and Decimal(price))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\n\n\n",
        b"\x89PNG\r\n\x1a\n\0\0\0",
        b"PK\x03\x04" + b"\0" * 500,
        bytes(range(256)) * 40,
    ],
)
def test_a_file_that_is_no_csv_fails_its_job(acme, area, content):
    """Contract 12: the job of an unreadable file is `failed`, with `error: {code, message}`."""
    job = from_file(acme, area, content)
    assert job["status"] == "failed", job
    assert set(job["error"]) >= {"code", "message"}


@pytest.mark.parametrize("form", ["{}", "/{}", "sftp://127.0.0.1:{port}/{}", "sftp://127.0.0.1:{port}//{}"])
def test_a_file_is_named_by_path_or_url(acme, demo, area, form):
    """Contract 6: a file is named by `sftp://<service>/<path>` or by its path.

    Contract 12: a path may begin with `/`.
    """
    sku = unique("P")
    area.put(f"products/{sku}.csv", f"{HEADER}\n{sku},x,1\n".encode())
    url = form.format(f"products/{sku}.csv", port=demo["sftp"]["port"])
    if form.endswith("//{}"):
        assert acme.post("importProducts", {"file_url": url}).status in (201, 400)
        return
    assert counts(imported(acme, well(acme.post("importProducts", {"file_url": url}), 201))) == {"created": 1}


def test_another_suppliers_file_is_not_found(acme, rivals_area):
    """Contract 6: a file in the upload area of another supplier is a validation error."""
    name = f"products/{unique('F')}.csv"
    rivals_area.put(name, b"sku,title,retail_price\nx,y,1\n")
    fault(acme.post("importProducts", {"file_url": name}), 400, "validation_error", "file_url")


def test_a_job_reads_the_version_that_it_was_started_with(acme, area):
    """Contract 12: a later `put`, `rename` or `rm` of the file does not change the job's content."""
    first, second = unique("P"), unique("P")
    name = f"products/{unique('F')}.csv"
    area.put(name, f"{HEADER}\n{first},x,1\n".encode())
    job = well(acme.post("importProducts", {"file_url": name}), 201)
    area.put(name, f"{HEADER}\n{second},x,1\n".encode())
    area.sftp.remove(name)
    assert counts(imported(acme, job)) == {"created": 1}
    assert variant_by_sku(acme, first)
    assert variant_by_sku(acme, second) is None


def test_the_template_has_the_columns_that_an_import_expects(acme):
    """Contract 6: line 1 has the columns, line 2 `mandatory` or `optional`, and line 3 an example."""
    lines = acme.get("templates/products.csv").raw.decode("utf-8-sig").splitlines()
    assert lines[0].split(",") == [
        "sku",
        "model",
        "retail_price",
        "wholesale_price",
        "title",
        "description",
        "description_extra",
        "upc",
        "ean",
        "id_in_source",
        "weight",
        "images",
        "special_sale_price",
        "special_sale_price_start",
        "special_sale_price_end",
        "description_bullets",
    ]
    assert set(lines[1].lower().split(",")) == {"mandatory", "optional"}
    assert lines[1].lower().split(",")[0] == "mandatory"
