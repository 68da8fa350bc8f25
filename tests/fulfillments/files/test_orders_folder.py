"""A supplier without an engineer finds its work in `orders/` (contract 15)."""

from __future__ import annotations

import codecs
import csv
import io
from datetime import UTC, datetime

import pytest
from openpyxl import load_workbook

from fulfillments.files.orders_folder import OrdersFolder
from fulfillments.models import Capture
from orders.services import hold
from tests.orders.fixtures import OPERATOR, line_units, state_of, status

pytestmark = pytest.mark.django_db(transaction=True)


LISTED = ["canceling.csv", "canceling.xlsx", "changed.csv", "new.csv", "new.xlsx", "slips"]


@pytest.fixture
def read(acme_sftp):
    """Return a function that reads the rows of a file in orders/."""

    def lines(name: str) -> list[dict[str, str]]:
        local = io.BytesIO()
        acme_sftp.getfo(f"orders/{name}", local)  # the client compares the size, too
        return list(csv.DictReader(io.StringIO(local.getvalue().decode("utf-8-sig"), newline="")))

    return lines


def test_each_line_that_can_be_captured_is_a_row_and_reading_captures_it(read, acme_sftp, work):
    lamp, mat = read("new.csv")

    assert (lamp["fulfillment_id"], lamp["line_id"]) == (str(work.pk), str(work.lines.first().pk))
    assert (lamp["sku"], lamp["quantity"], lamp["wholesale_price"]) == ("LAMP", "3", "10")
    assert (mat["sku"], mat["quantity"]) == ("MAT", "2")
    assert (lamp["retailer"], lamp["order_id"]) == ("Shop", str(work.order_id))
    assert lamp["city"] == work.order.shipping_address["city"]
    assert Capture.objects.get().fulfillment_id == work.pk
    assert read("new.csv") == [lamp, mat]  # the rows stay until the supplier acts on them


def test_looking_at_the_folder_captures_nothing(acme_sftp, work):
    names = [entry.filename for entry in acme_sftp.listdir_attr("orders")]
    acme_sftp.stat("orders/new.csv")
    acme_sftp.open("orders/new.csv").close()

    assert names == LISTED
    assert not Capture.objects.exists()


def test_a_partly_shipped_line_shows_its_remaining_units(read, acme_api, shop_api, work):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "1Z", "lines": [line_units(work, "LAMP", 1)]})
    shop_api.post(f"orders/{work.order_id}/cancel")
    acme_api.put(status(work), {"status": "cancelation not allowed"})

    assert [(row["sku"], row["quantity"]) for row in read("new.csv")] == [("LAMP", "2"), ("MAT", "2")]


def test_accepted_lines_leave_the_new_file_and_stay_in_the_file_of_the_day(read, acme_sftp, acme_api, work):
    read("new.csv")
    acme_api.put(status(work, "accepted"))
    day = f"{Capture.objects.get().captured_at.astimezone(UTC).date()}.csv"

    assert read("new.csv") == []
    assert [row["sku"] for row in read(day)] == ["LAMP", "MAT"]
    assert sorted(acme_sftp.listdir("orders")) == sorted([*LISTED, day])


def test_a_day_long_ago_has_no_file(read, acme_sftp, work):
    read("new.csv")
    Capture.objects.update(captured_at=datetime(2020, 1, 1, tzinfo=UTC))

    assert sorted(acme_sftp.listdir("orders")) == [
        "canceling.csv",
        "canceling.xlsx",
        "changed.csv",
        "new.csv",
        "new.xlsx",
        "slips",
    ]


def test_a_file_has_a_limit_of_lines_but_at_least_one_fulfillment(read, acme_api, work, push, monkeypatch):
    push({"sku": "LAMP", "quantity": 1})
    monkeypatch.setattr("fulfillments.files.orders_folder.MOST_LINES", 1)
    assert [row["fulfillment_id"] for row in read("new.csv")] == [str(work.pk)] * 2

    acme_api.put(status(work, "accepted"))
    assert [(row["sku"], row["quantity"]) for row in read("new.csv")] == [("LAMP", "1")]


def test_cancellation_requests_are_in_canceling(read, shop_api, work):
    shop_api.post(f"orders/{work.order_id}/cancel")

    assert read("new.csv") == []
    assert [row["sku"] for row in read("canceling.csv")] == ["LAMP", "MAT"]


def test_held_work_is_in_no_file(read, work):
    with work.order.change(by=OPERATOR) as change:
        hold(change)

    assert read("new.csv") == []


def test_the_work_of_others_is_in_no_file(rival, login_of, connect, server, work, acme_login):
    login_of(rival)
    other = connect(server, "rival").open_sftp()

    assert other.open("orders/new.csv").read().count(b"\n") == 1


def test_nothing_can_be_changed_in_the_orders_folder(acme_sftp):
    for change in (
        lambda: acme_sftp.open("orders/new.csv", "w"),
        lambda: acme_sftp.remove("orders/new.csv"),
        lambda: acme_sftp.rename("orders/new.csv", "x.csv"),
        lambda: acme_sftp.mkdir("orders/mine"),
        lambda: acme_sftp.rmdir("orders"),
        lambda: acme_sftp.utime("orders/new.csv", (1, 1)),
        lambda: acme_sftp.open("orders/new.csv", "r+"),
        lambda: acme_sftp.open("orders/new.csv").utime((1, 1)),
    ):
        with pytest.raises(PermissionError):
            change()
    for missing in ("orders/other.csv", "orders/2020-01-01.csv", "orders/new.csv/x"):
        with pytest.raises(FileNotFoundError):
            acme_sftp.stat(missing)
    with pytest.raises(FileNotFoundError):
        acme_sftp.listdir("orders/deeper")


def test_the_folder_can_be_read(acme_sftp):
    shown = {entry.filename: entry for entry in acme_sftp.listdir_attr()}

    assert str(shown["orders"]).startswith("dr-xr-xr-x")
    assert str(acme_sftp.stat("orders/new.csv")).startswith("-r--r--r--")


def test_no_cell_is_run_by_a_spreadsheet(read, a_variant, acme, push):
    a_variant(acme, "LAMP", stock=10)
    push({"sku": "LAMP", "quantity": 1}, gift_message="=1+1", is_gift=True)

    assert read("new.csv")[0]["gift_message"] == "'=1+1"


def test_a_spreadsheet_program_recognizes_the_encoding_of_a_csv(acme_sftp, work):
    for name in ("new.csv", "canceling.csv", "changed.csv"):
        assert acme_sftp.open(f"orders/{name}").read().startswith(codecs.BOM_UTF8), name


def test_a_workbook_has_the_rows_of_the_csv_as_text_and_captures_them(acme_sftp, read, a_variant, acme, push):
    a_variant(acme, "0012", stock=10)
    push({"sku": "0012", "quantity": 2}, gift_message="=1+1", is_gift=True)

    sizes = {acme_sftp.stat("orders/new.xlsx").st_size for _ in range(2)}
    assert not Capture.objects.exists()
    content = acme_sftp.open("orders/new.xlsx").read()
    assert Capture.objects.exists()
    assert sizes == {len(content)}

    header, row = load_workbook(io.BytesIO(content)).active.iter_rows()
    assert {cell.data_type for cell in row} <= {"inlineStr", "s"}, "no number and no formula"
    shown = {name.value: cell.value or "" for name, cell in zip(header, row, strict=True)}
    assert shown == read("new.csv")[0]
    assert (shown["sku"], shown["gift_message"]) == ("0012", "'=1+1")


def test_a_filled_in_workbook_ships(put, acme, work):
    book = load_workbook(io.BytesIO(OrdersFolder().files(acme.pk)["new.xlsx"]().content))
    sheet = book.active
    for name, value in {"action": "ship", "tracking_number": "1Z1"}.items():
        column = sheet.max_column + 1
        sheet.cell(1, column, name)
        for row in range(2, sheet.max_row + 1):
            sheet.cell(row, column, value)
    filled = io.BytesIO()
    book.save(filled)

    job = put(name="monday.xlsx", content=filled.getvalue())

    assert (job.status, state_of(work)) == ("succeeded", "shipped")


def test_each_template_has_a_workbook(acme_sftp):
    names = sorted(acme_sftp.listdir("templates"))
    assert [name for name in names if name.endswith(".xlsx")] == [
        name.replace(".csv", ".xlsx") for name in names if name.endswith(".csv")
    ]
    columns = acme_sftp.open("templates/tracking.csv").read().decode().splitlines()[0].split(",")
    book = load_workbook(io.BytesIO(acme_sftp.open("templates/tracking.xlsx").read()))
    assert [cell.value for cell in book.active[1]] == columns
