"""The operators' lists: filters by day, the choice of columns, and saved views."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import saved_views
from accounts.models import SavedView
from accounts.operating.day_filter import first_since
from orders.models import Order
from tests.backoffice.conftest import messages
from tests.factories import ImportJobFactory, OrderFactory

LIST = "/admin/orders/order/"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def days(shop):
    """Create one order for each day from 10 March on, with gaps between their ids. Return the ids."""
    orders = OrderFactory.create_in_bulk(30, retailer=shop)
    Order.objects.filter(pk__in=[order.pk for order in orders[::3]]).delete()
    kept = list(Order.objects.order_by("pk"))
    for place, order in enumerate(kept):
        Order.objects.filter(pk=order.pk).update(created_at=NOON + timedelta(days=place))
    return [order.pk for order in kept]


def shown(page):
    return [order.pk for order in page.context["cl"].result_list]


def test_a_filter_by_days_includes_the_first_and_the_last_day(operator, days):
    def between(**narrowed):
        return sorted(shown(operator.get(LIST, narrowed)))

    assert between(created_at_from="2026-03-12", created_at_to="2026-03-14") == days[2:5]
    assert between(created_at_from="2026-03-28") == days[18:]
    assert between(created_at_to="2026-03-10") == days[:1]
    assert between(created_at_from="2026-04-20") == between(created_at_to="2026-03-09") == []
    assert between(created_at_from="no day", created_at_to="2026-02-31") == days
    assert between(created_at_from="0001-01-01", created_at_to="9999-12-31") == days


def test_days_combine_with_other_filters_and_apply_to_the_export(operator, days, boutique):
    OrderFactory.create(retailer=boutique)
    narrowed = {
        "created_at_from": "2026-03-12",
        "retailer__id__exact": Order.objects.get(pk=days[0]).retailer_id,
    }
    page = operator.get(LIST, {**narrowed, "created_at_to": "2026-03-13"})
    assert sorted(shown(page)) == days[2:4]
    assert 'name="retailer__id__exact"' in page.text
    answer = operator.get(f"{LIST}export.csv", {**narrowed, "created_at_to": "2026-03-13"})
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    assert len(list(csv.reader(io.StringIO(text)))) == 3


def test_the_first_row_of_a_day_is_found_by_bisection_despite_gaps(days):
    for place, number in enumerate(days):
        moment = NOON + timedelta(days=place)
        before = days[place - 1] if place else 0
        assert before < (first_since(Order, "created_at", moment) or 0) <= number
        assert (first_since(Order, "created_at", moment + timedelta(seconds=1)) or 0) > number


def test_a_list_by_day_of_any_length_costs_the_same_queries(operator, shop, days):
    def asked():
        with CaptureQueriesContext(connection) as statements:
            operator.get(LIST, {"created_at_from": "2026-03-12", "created_at_to": "2026-03-20"})
        return len(statements)

    few = asked()
    OrderFactory.create_in_bulk(200, retailer=shop)
    assert asked() == few


def test_an_empty_list_is_empty_on_any_day(operator):
    assert first_since(Order, "created_at", NOON) is None
    assert shown(operator.get(LIST, {"created_at_from": "2026-03-12", "created_at_to": "2026-03-12"})) == []


def test_chosen_columns_are_kept_by_filters_and_used_by_exports(operator, days):
    page = operator.get(LIST, {"columns": "retailer,updated_at,nonsense", "created_at_from": "2026-03-12"})
    assert page.context["cl"].list_display == ["action_checkbox", "retailer", "updated_at"]
    assert f'<a href="{LIST}{days[-1]}/change/' in page.text, "each row must lead to its page"
    assert 'name="columns" value="retailer,updated_at,nonsense"' in page.text, "the search keeps the columns"
    answer = operator.get(f"{LIST}export.csv", {"columns": "retailer,updated_at"})
    head = b"".join(answer.streaming_content).decode("utf-8-sig").partition("\r\n")[0]
    assert head == "retailer,updated at"


def test_an_unknown_column_is_ignored(operator, days):
    page = operator.get(LIST, {"columns": "shipping_address"})
    assert "shipping_address" not in page.context["cl"].list_display
    assert "number" in page.context["cl"].list_display


def save(client, name, query, **more):
    return client.post(f"{LIST}view/", {"name": name, "query": query, **more}, follow=True)


def test_a_view_is_saved_shared_changed_and_deleted(operator, support, days):
    page = save(operator, "Spring", "created_at_from=2026-03-12&columns=retailer")
    assert page.request["QUERY_STRING"] == "created_at_from=2026-03-12&columns=retailer"
    assert "Spring" not in support.get(LIST).text

    save(operator, "Spring", "created_at_from=2026-03-13", shared="on")
    view = SavedView.objects.get()
    assert (view.owner, view.shared) == (User.objects.get(username="olga"), True)
    page = support.get(LIST, {"created_at_from": "2026-03-13"})
    assert [(each.name, current, own) for each, current, own in page.context["saved_views"]] == [
        ("Spring", True, False)
    ]
    assert "Delete the view" not in page.text

    support.post(f"{LIST}view/", {"delete": view.pk})
    assert SavedView.objects.exists(), "only the owner may delete a view"
    operator.post(f"{LIST}view/", {"delete": view.pk})
    assert not SavedView.objects.exists()


def test_a_saved_view_belongs_to_its_list_and_its_readers(operator, client, days):
    save(operator, "Spring", "q=1", shared="on")
    assert "Spring" not in operator.get("/admin/imports/importjob/").text
    assert client.post(f"{LIST}view/", {"name": "x"}).status_code == 302
    assert operator.post("/admin/orders/nothing/view/", {"name": "x"}).status_code == 404
    assert operator.post("/admin/sessions/session/view/", {"name": "x"}).status_code == 404


def test_a_view_without_a_name_or_beyond_the_limit_is_refused_with_a_message(operator, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST", 1)
    assert "at most 60 characters" in save(operator, "", "").text
    save(operator, "One", "")
    assert "Delete one first" in save(operator, "Two", "").text
    assert SavedView.objects.count() == 1


def test_a_view_loses_characters_that_cannot_be_stored(operator, days):
    save(operator, "Spring", "q=a\0b")
    assert SavedView.objects.get().query == "q=ab"


def test_a_filter_value_outside_the_column_type_is_an_invalid_parameter(operator):
    for nonsense in ({"name": "a\0b"}, {"id__exact": "x"}):
        answer = operator.get("/admin/accounts/apikey/", nonsense)
        assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/accounts/apikey/?e=1")


def test_a_search_for_an_impossible_value_is_a_wrong_request(operator):
    of_field = {"app_label": "accounts", "model_name": "apikey", "field_name": "supplier"}
    assert operator.get("/admin/autocomplete/", {**of_field, "term": "a"}).status_code == 200
    assert operator.get("/admin/autocomplete/", {**of_field, "term": "a\0b"}).status_code == 400


def test_the_list_of_orders_shows_problem_suppliers_units_and_amount(
    operator, acme, rival, shop, a_variant, pushed, client_for
):
    a_variant(acme, "LAN-1", stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 3, "billed_amount": 12.5})
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/wrong_address")
    [row] = operator.get(LIST).context["cl"].result_list
    shown_row = (row.problem_words, row.supplier_names, row.unit_count, row.billed)
    assert shown_row == ("Wrong address", "Acme", 3, Decimal("12.5"))
    page = operator.get(LIST, {"q": order.shipping_address["last_name"]})
    assert shown(page) == [order.pk]
    assert f"12.50\u00a0{order.currency}" in page.text


def test_the_list_of_orders_shows_work_that_was_not_captured_in_time(
    operator, acme, shop, a_variant, pushed, client_for
):
    a_variant(acme, "LAN-1", stock=10)
    shop.partnerships.update(hours_to_capture=4)
    work = pushed(shop, {"sku": "LAN-1", "quantity": 1}).fulfillments.get()
    work.capture_due_at -= timedelta(hours=5)
    work.save(update_fields=["capture_due_at"])

    [row] = operator.get(LIST).context["cl"].result_list
    assert row.problem_words == "Not captured in time"

    client_for(acme).get("fulfillments")
    [row] = operator.get(LIST).context["cl"].result_list
    assert row.problem_words == ""


def test_the_list_of_orders_takes_the_same_queries_for_any_rows(operator, shop):
    def asked():
        with CaptureQueriesContext(connection) as statements:
            operator.get(LIST)
        return len(statements)

    OrderFactory.create(retailer=shop)
    few = asked()
    OrderFactory.create_in_bulk(40, retailer=shop)
    assert asked() == few


def test_variants_and_imports_have_the_columns_people_ask_for(operator, acme, a_variant):
    a_variant(acme, "LAN-1", stock=7, title="Lantern", retail_price="18", wholesale_price="9.5")
    ImportJobFactory.create(supplier=acme, status="succeeded", rows_total=5, rejected=2, source="a/b.csv")
    page = operator.get("/admin/catalog/variant/")
    assert page.context["cl"].list_display[1:] == [
        *("sku", "title", "supplier", "retail_price", "wholesale_price", "free_stock", "listed")
    ]
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page.text.split("<tbody>")[1])
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in cells]
    assert [cell for cell in cells if cell][:7] == ["LAN-1", "Lantern", "Acme", "18.00", "9.50", "7", "Yes"]
    jobs = operator.get("/admin/imports/importjob/")
    for column in ("received", "supplier", "shown_status", "rows", "rejected", "file_name"):
        assert column in jobs.context["cl"].list_display
    assert "a/b.csv" in jobs.text
    assert operator.get("/admin/catalog/variant/", {"columns": "sku,model"}).status_code == 200


def test_the_list_of_variants_takes_the_same_queries_for_any_rows(operator, acme, a_variant):
    def asked():
        with CaptureQueriesContext(connection) as statements:
            operator.get("/admin/catalog/variant/")
        return len(statements)

    a_variant(acme, "LAN-0", stock=1)
    few = asked()
    for number in range(5):
        a_variant(acme, f"LAN-1{number}", stock=1)
    assert asked() == few


@pytest.mark.parametrize("sent", ["abc", "", "9" * 30])
def test_an_action_on_an_id_that_cannot_exist_asks_for_rows(operator, sent):
    page = operator.post(
        "/admin/orders/order/", {"action": "hold", "index": "0", "_selected_action": sent}, follow=True
    )
    assert messages(page) == ["Select rows of this list."]
