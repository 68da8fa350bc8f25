"""Lists that may have millions of rows are searched only by indexes, and sorted only by indexed columns."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiKey, Contact, Partnership, Retailer, Supplier
from accounts.operating.admin_base import LongList
from backoffice.lists.phrases import ABOUT, EMPTY
from backoffice.models import Digest, MessageTemplate
from fulfillments.models import Fulfillment, PerformanceTarget
from imports.models import AutoImport, ImportPolicy, SavedMapping
from inventory.models import Warehouse
from orders.admin.filters import HeldFilter
from orders.management.commands.finish_upgrade import add_totals
from orders.models import Order
from sftp_ingest.models import RemoteHost, SftpLogin
from tests.factories import OrderFactory

# Short lists: one row for each party or operator, or a few per party.
SHORT = {Supplier, Retailer, Partnership, ApiKey, Warehouse, ImportPolicy, AutoImport, SavedMapping}
SHORT |= {SftpLogin, RemoteHost, Digest, Contact, MessageTemplate, PerformanceTarget}
LONG = [model for model, listed in admin.site._registry.items() if isinstance(listed, LongList)]
TERMS = ("R-17", "4711", "036000291452", "retailer:7 a-key", "products/spring.csv", "nobody's")


def test_every_list_is_known_to_be_short_or_made_for_length():
    ours = {model for model in admin.site._registry if not model.__module__.startswith("django.")}
    assert ours - SHORT == set(LONG) - SHORT
    assert all(admin.site._registry[model].sortable_by == ("id",) for model in LONG)


@pytest.mark.parametrize("model", LONG, ids=lambda model: model.__name__)
def test_a_search_reads_no_table_completely(model, admin_client):
    table = model._meta.db_table
    page = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    for term in TERMS:
        with CaptureQueriesContext(connection) as asked:
            answer = admin_client.get(page, {"q": term})
        assert answer.status_code == 200
        searched = [each["sql"] for each in asked if f'FROM "{table}" ' in each["sql"]]
        for statement in searched:
            if " WHERE " in statement:
                assert f"Seq Scan on {table}" not in plan_of(statement), (term, plan_of(statement))


def test_the_list_of_orders_reads_the_lines_of_no_other_order(admin_client, shop):
    OrderFactory.create_in_bulk(20, retailer=shop)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE orders_order, orders_orderline")  # the planner prefers to read short tables
    with CaptureQueriesContext(connection) as asked:
        admin_client.get("/admin/orders/order/", {"q": "R-17"})
    statements = [each["sql"] for each in asked if "Wrong address in part" in each["sql"]]
    assert statements
    for statement in statements:
        assert "Seq Scan on orders_orderline" not in plan_of(statement)


def test_no_url_can_sort_a_list_by_a_column_without_an_index(admin_client, shop):
    late, soon = OrderFactory.create_in_bulk(2, retailer=shop)
    Order.objects.filter(pk=late.pk).update(ship_until="2030-01-02")
    Order.objects.filter(pk=soon.pk).update(ship_until="2030-01-01")
    number = [*admin.site._registry[Order].list_display].index("due") + 1

    def soon_is_first(**address):
        page = admin_client.get("/admin/orders/order/", address).text
        rows = page[page.index("<tbody") :]
        return rows.index(f"/order/{soon.pk}/") < rows.index(f"/order/{late.pk}/")

    for way in (number, -number):
        assert soon_is_first(o=way), "without an index, the newest order must be first"
    assert soon_is_first(o=number, open=1), "open orders have an index by deadline"
    assert not soon_is_first(o=-number, open=1)


@pytest.mark.parametrize(
    ("model", "column", "index"),
    [
        (Order, "due", "order_open_due"),
        (Order, "amount", "order_open_amount"),
        (Fulfillment, "due", "fulfillment_open_due"),
        (Fulfillment, "amount", "fulfillment_open_amount"),
    ],
)
@pytest.mark.parametrize("direction", ["", "-"])
def test_open_work_is_sorted_by_an_index_in_both_directions(
    admin_client, order, model, column, index, direction
):
    listed = admin.site._registry[model]
    sort = f"{direction}{[*listed.list_display].index(column) + 1}"
    with CaptureQueriesContext(connection) as asked:
        admin_client.get(f"/admin/{model._meta.app_label}/{model._meta.model_name}/", {"open": 1, "o": sort})
    ends = [(each["sql"], each["sql"][-300:]) for each in asked]
    [rows] = [sql for sql, end in ends if " ORDER BY " in end and model._meta.db_table in end]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {rows}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET enable_seqscan; RESET enable_sort")
    assert index in plan, plan
    assert "Sort Key" not in plan.partition("SubPlan")[0], plan


def test_amount_and_due_lead_from_the_whole_list_to_the_sorted_open_rows(
    admin_client, shop, acme, a_variant, pushed
):
    a_variant(acme, "LAN-1", stock=10, wholesale_price="4")
    amounts = {
        pushed(shop, {"sku": "LAN-1", "quantity": 1, "billed_amount": billed}).pk: billed
        for billed in (5, 900, 20)
    }
    unbilled = pushed(shop, {"sku": "LAN-1", "quantity": 2}).pk
    page = admin_client.get("/admin/orders/order/")
    number = page.context["cl"].list_display.index("amount")
    assert f"?o=-{number}&amp;open=1" in page.text

    def sorted_by(column, **more):
        rows = admin_client.get("/admin/orders/order/", {"open": 1, "o": column, **more})
        return [order.pk for order in rows.context["cl"].result_list]

    falling = sorted(amounts, key=lambda pk: -amounts[pk])
    assert sorted_by(f"-{number}") == [*falling, unbilled]
    assert sorted_by(number) == [unbilled, *reversed(falling)]
    assert sorted_by(f"-{number}.1") == [*falling, unbilled], "only the first column sorts"

    work = admin_client.get("/admin/fulfillments/fulfillment/", {"open": 1, "o": "-9"}).context["cl"]
    assert work.list_display[9] == "amount"
    assert work.result_list[0].agreed == 8


def plan_of(statement: str) -> str:
    """Return PostgreSQL's plan, with sequential scans and index scans disabled.

    The plan still has a sequential scan if no bitmap scan of an index can find the rows.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET enable_seqscan; RESET enable_indexscan")
    return plan


def test_held_orders_are_found_by_an_index_among_many_open_orders(shop):
    """Each home page counts the held orders: few rows among many open orders."""
    OrderFactory.create_in_bulk(3000, retailer=shop)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE orders_order")
        sql, params = HeldFilter.narrow(Order.objects.order_by("id"))[:101].query.sql_with_params()
        cursor.execute(f"EXPLAIN {sql}", params)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "order_held" in plan, plan


def test_the_end_of_an_upgrade_adds_the_totals_of_open_work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAN-1", stock=10, wholesale_price="4")
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2, "billed_amount": 9})
    Order.objects.update(billed_total=None)
    Fulfillment.objects.update(agreed_total=None)
    add_totals()
    order.refresh_from_db()
    assert (order.billed_total, order.fulfillments.get().agreed_total) == (9, 8)


def test_a_list_says_what_it_shows_and_helps_when_it_is_empty(operator):
    page = operator.get("/admin/events/webhook/").text
    assert "Addresses that receive events" in page
    assert "Partners create webhooks in the portal or by the API. They appear here." in page
    assert not {*ABOUT, *EMPTY} - {model._meta.model_name for model in admin.site._registry}
