"""The export of each list, of any length, with the filters and columns of the list."""

from __future__ import annotations

import csv
import io
from zipfile import ZipFile

import pytest
from django.contrib import admin
from django.test import Client

from api.exporting import workbook as workbooks
from api.exporting.keyset import AT_ONCE
from backoffice.groups import DESKS
from backoffice.lists.columns import INVALID_FILTER
from tests.backoffice.conftest import messages
from tests.factories import OrderFactory, StaffFactory, VariantFactory

LISTED = [model._meta for model in admin.site._registry]


def exported(client, path, **filters):
    answer = client.get(path, filters)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def table(client, path, **filters):
    text = exported(client, path, **filters).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_a_filtered_list_is_exported_as_csv_with_its_columns(operator, shop, boutique):
    OrderFactory.create_in_bulk(3, retailer=shop)
    OrderFactory.create_in_bulk(2, retailer=boutique)
    titles, *rows = table(operator, "/admin/orders/order/export.csv", retailer__id__exact=shop.pk)
    assert titles == [
        *(
            "order",
            "state",
            "problem",
            "due",
            "amount",
            "received",
            "customer",
            "retailer",
            "units",
            "suppliers",
        )
    ]
    assert [row[7] for row in rows] == ["Shop"] * 3
    assert rows[0][1] == "Received"
    page = operator.get("/admin/orders/order/", {"retailer__id__exact": shop.pk}).text
    assert f'href="export.csv?retailer__id__exact={shop.pk}"' in page


def test_the_export_of_several_pages_contains_every_row_once(operator, acme):
    VariantFactory.create_in_bulk(AT_ONCE + 5, supplier=acme)
    rows = table(operator, "/admin/catalog/variant/export.csv")[1:]
    assert len({row[0] for row in rows}) == len(rows) == AT_ONCE + 5


def test_a_workbook_opens_and_keeps_numbers_and_signs(operator, acme):
    VariantFactory.create(supplier=acme, sku="=1+1", title='A < B & "C"\x0b', retail_price="19.5")
    file = ZipFile(io.BytesIO(exported(operator, "/admin/catalog/variant/export.xlsx")))
    assert file.testzip() is None
    sheet = file.read("xl/worksheets/sheet1.xml").decode()
    assert '<t xml:space="preserve">=1+1</t>' in sheet
    assert 'A &lt; B &amp; "C"\ufffd' in sheet
    assert "<v>19.5000</v>" in sheet
    assert table(operator, "/admin/catalog/variant/export.csv")[1][0] == "'=1+1"


def test_a_cell_that_is_a_link_on_the_page_is_its_plain_text_in_a_file(
    operator, acme, shop, a_variant, pushed
):
    a_variant(acme, "LAN-1", stock=1)
    pushed(shop, {"sku": "LAN-1", "quantity": 1}, retailer_order_id="A&B'1<2")
    pushed(shop, {"sku": "LAN-1", "quantity": 1}, retailer_order_id="=1+1")

    cells = [cell for row in table(operator, "/admin/orders/orderline/export.csv")[1:] for cell in row]

    assert any("A&B'1<2" in cell for cell in cells), cells
    assert not any(cell.startswith("=") for cell in cells), cells


def test_a_sheet_that_is_full_says_so(monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 3)
    file = ZipFile(io.BytesIO(b"".join(workbooks.workbook([["x"]] * 9))))
    sheet = file.read(workbooks.SHEET).decode()
    assert sheet.count("<row>") == 3
    assert "There are more rows" in sheet


@pytest.mark.parametrize("meta", LISTED, ids=lambda meta: meta.label)
def test_every_list_can_be_exported(admin_client, order, meta):
    path = f"/admin/{meta.app_label}/{meta.model_name}/export.xlsx"
    assert exported(admin_client, path).startswith(b"PK")


@pytest.mark.parametrize("path", ["orders/order/export.pdf", "orders/nothing/export.csv", "x/y/export.csv"])
def test_an_unknown_list_is_not_found(operator, path):
    assert operator.get(f"/admin/{path}").status_code == 404


def test_a_user_without_the_right_gets_no_file(db, support):
    assert support.get("/admin/auth/user/export.csv").status_code == 403


@pytest.mark.parametrize(
    ("desk", "path", "may"),
    [
        ("Order desk", "/admin/accounts/supplier/add/", False),
        ("Partner desk", "/admin/accounts/supplier/add/", True),
        ("Partner desk", "/admin/catalog/variant/add/", False),
        ("Catalogue desk", "/admin/catalog/variant/add/", True),
    ],
)
def test_desks_see_all_and_act_on_their_own_work(db, desk, path, may):
    assert desk in DESKS
    client = Client()
    client.force_login(StaffFactory.create(username="desk", group=desk))
    assert client.get("/admin/orders/order/").status_code == 200
    assert client.get(path).status_code == (200 if may else 403)


@pytest.mark.parametrize("nonsense", [{"no_such_field": "1"}, {"e": "1", "id": "\0"}])
def test_an_export_with_a_wrong_filter_leads_to_the_list(operator, nonsense):
    answer = operator.get("/admin/orders/order/export.csv", nonsense)

    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/orders/order/?e=1")
    assert messages(operator.get("/admin/orders/order/?e=1")) == [INVALID_FILTER]
