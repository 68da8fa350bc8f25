"""A supplier's clerk finds products, corrects prices and titles in the list, and reads a product's page."""

from __future__ import annotations

import csv
import io
import zipfile
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.member_roles import MemberRole
from catalog.models import VariantChange
from events.models import Event
from tests.portal.conftest import act, browser_of, said

LIST = "/portal/products/"


@pytest.fixture
def lamp(acme, rival, a_variant):
    a_variant(acme, "CHAIR", title="Garden chair", listed=False)
    a_variant(rival, "SECRET-1", title="Brass lamp of a rival")
    return a_variant(acme, "LAMP-1", title="Brass lamp", stock=5, retail_price="20", upc="012345678905")


def row(variant, **typed):
    """Return the fields of a product's row: its shown values, and the typed values."""
    shown = {
        "title": variant.title,
        "retail_price": str(variant.retail_price.normalize()),
        "wholesale_price": "" if variant.wholesale_price is None else str(variant.wholesale_price),
    }
    hidden = {f"initial-{variant.pk}-{name}": value for name, value in shown.items()}
    return {**hidden, **{f"{variant.pk}-{name}": value for name, value in {**shown, **typed}.items()}}


def text_of(client, **query):
    return client.get(LIST, query).content.decode()


@pytest.mark.parametrize("term", ["lamp", "MP-1", "rass l", "0123456", "012345678905"])
def test_a_search_finds_parts_of_sku_and_title_and_beginnings_of_numbers(ana, lamp, term):
    text = text_of(ana, q=term)
    assert "LAMP-1" in text
    assert "CHAIR" not in text
    assert "SECRET" not in text


@pytest.mark.parametrize(
    ("tab", "lamp_shown", "chair_shown"),
    [
        *(("all", True, True), ("listed", True, False), ("delisted", False, True)),
        *(("stock", True, False), ("empty", False, True), ("unknown", True, True)),
    ],
)
def test_tabs_filter_products(ana, lamp, tab, lamp_shown, chair_shown):
    text = text_of(ana, tab=tab)
    assert ("LAMP-1" in text, "CHAIR" in text) == (lamp_shown, chair_shown)


def test_a_tab_shows_the_products_that_were_rejected_lately(ana, acme, shop, lamp, pushed, client_for):
    work = pushed(shop, {"sku": "LAMP-1", "quantity": 1}).fulfillments.get()
    assert "LAMP-1" not in text_of(ana, tab="rejected")
    client_for(acme).put(f"fulfillments/{work.pk}/setStatus/out_of_stock")

    assert "LAMP-1" in text_of(ana, tab="rejected")


def test_prices_and_titles_are_saved_in_place_as_one_event_each(ana, owner, lamp):
    chair = lamp.supplier.variants.get(sku="CHAIR")
    sent = {**row(lamp, retail_price="21.5"), **row(chair, title="Garden chair, oak")}
    page = ana.post(LIST, sent, follow=True)

    assert said(page) == ["2 products changed."]
    lamp.refresh_from_db()
    assert lamp.retail_price == Decimal("21.5")
    event = Event.objects.get(type="variant.updated", data__sku="LAMP-1")
    assert (event.actor, [*event.data["changed"]]) == (owner.actor_name, ["retail_price"])
    assert VariantChange.objects.count() == 2

    assert said(ana.post(LIST, sent, follow=True)) == ["Nothing was changed: the form has no new values."]
    assert VariantChange.objects.count() == 2


def test_a_wrong_price_keeps_what_was_typed_and_the_other_rows_are_saved(ana, lamp):
    chair = lamp.supplier.variants.get(sku="CHAIR")
    sent = {**row(lamp, retail_price="cheap"), **row(chair, title="Oak chair")}
    page = ana.post(f"{LIST}?tab=listed", sent)

    assert said(page) == ["1 product changed."]
    text = page.content.decode()
    assert "1 product not saved." in text
    assert 'value="cheap"' in text
    assert "Enter a number." in text
    lamp.refresh_from_db()
    assert lamp.retail_price == 20


@pytest.mark.parametrize("name", ["retail_price", "wholesale_price"])
def test_a_negative_price_is_refused_at_its_field(ana, lamp, name):
    page = ana.post(LIST, row(lamp, **{name: "-1"}))

    [(shown, _)] = [each for each in page.context["rows"] if each[0].variant == lamp]
    assert shown.form.errors == {name: ["A price cannot be negative."]}
    assert "A price cannot be negative." in page.content.decode()


def test_a_price_with_separators_is_refused_with_the_right_spelling(ana, lamp):
    text = ana.post(LIST, row(lamp, retail_price="1,000")).content.decode()
    assert "Enter a number. Write it without separators: 1000." in text


def test_a_price_that_a_colleague_changed_is_shown_before_it_is_overwritten(ana, acme, lamp, client_for):
    sent = row(lamp, retail_price="22")
    client_for(acme).request("PATCH", f"variants/{lamp.pk}", {"retail_price": 25})

    text = ana.post(LIST, sent).content.decode()
    assert "Someone changed &#x27;20&#x27; to &#x27;25&#x27; in the meantime." in text
    assert f'name="{lamp.pk}-retail_price" value="22"' in text
    lamp.refresh_from_db()
    assert lamp.retail_price == 25


def test_another_suppliers_product_cannot_be_changed(ana, rival, lamp):
    foreign = rival.variants.get()
    ana.post(LIST, row(foreign, title="Mine now"))

    foreign.refresh_from_db()
    assert foreign.title == "Brass lamp of a rival"


def test_a_price_with_cents_is_refused_in_a_currency_without_cents(ana, acme, lamp):
    type(acme).objects.filter(pk=acme.pk).update(currency="JPY")

    assert "JPY" in ana.post(LIST, row(lamp, retail_price="20.5")).content.decode()
    lamp.refresh_from_db()
    assert lamp.retail_price == 20


def test_readers_see_values_without_a_form(acme, member_of, lamp):
    text = text_of(browser_of(member_of(acme, MemberRole.VIEWER)))
    assert "Brass lamp" in text
    assert "Save products" not in text


def test_readers_see_prices_with_the_decimals_of_the_currency(acme, member_of, lamp):
    type(acme).objects.filter(pk=acme.pk).update(currency="JPY")
    type(lamp).objects.filter(pk=lamp.pk).update(retail_price=1200)

    page = browser_of(member_of(acme, MemberRole.VIEWER)).get("/portal/products/").content.decode()

    assert "1,200" in page
    assert "1,200.00" not in page


def test_columns_are_chosen_and_the_files_have_the_shown_rows_and_columns(ana, lamp):
    query = {"tab": "listed", "columns": ["sku", "upc"]}
    text = text_of(ana, **query)
    assert "012345678905" in text
    assert "Retail price</th>" not in text

    answer = ana.get(LIST, {**query, "file": "csv"})
    rows = list(csv.reader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    assert rows == [["SKU", "UPC"], ["LAMP-1", "012345678905"]]
    sheet = zipfile.ZipFile(io.BytesIO(ana.get(LIST, {**query, "file": "xlsx"}).getvalue()))
    assert "LAMP-1" in sheet.read("xl/worksheets/sheet1.xml").decode()


def test_a_product_shows_its_stock_its_open_orders_and_its_changes(ana, acme, shop, lamp, pushed, client_for):
    order = pushed(shop, {"sku": "LAMP-1", "quantity": 2})
    client_for(acme).request(
        "PATCH", f"variants/{lamp.pk}", {"images": ["https://img.example/lamp.jpg"], "title": "Lamp"}
    )

    page = ana.get(f"{LIST}{lamp.pk}/")
    text = page.content.decode()
    assert order.retailer_order_id in text
    assert 'src="https://img.example/lamp.jpg"' in text
    assert "Title: Brass lamp → Lamp" in text
    assert "https:" in page["Content-Security-Policy"]

    shown = ana.post(f"{LIST}{lamp.pk}/", row(lamp, title="Lamp", wholesale_price="9"), follow=True)
    assert said(shown) == ["LAMP-1 is changed."]
    assert "Wholesale price: – → 9" in shown.content.decode()


def test_a_product_keeps_its_bullets_because_its_page_does_not_show_them(ana, acme, lamp, client_for):
    client_for(acme).request("PATCH", f"variants/{lamp.pk}", {"description_bullets": ["Brass", "Dimmable"]})
    assert "bullets" not in str(ana.get(f"{LIST}{lamp.pk}/").context["form"])

    ana.post(f"{LIST}{lamp.pk}/", {**row(lamp, title="Lamp"), f"{lamp.pk}-description_bullets": "New"})
    lamp.refresh_from_db()
    assert (lamp.title, lamp.description_bullets) == ("Lamp", ["Brass", "Dimmable"])


def test_a_product_is_delisted_and_listed_again(ana, lamp):
    assert "To undo: List product again." in ana.get(f"{LIST}{lamp.pk}/do/delist/").content.decode()
    act(ana, f"{LIST}{lamp.pk}/do/delist/")
    lamp.refresh_from_db()
    assert not lamp.listed

    assert "To undo: Delist product." in ana.get(f"{LIST}{lamp.pk}/do/list-again/").content.decode()
    act(ana, f"{LIST}{lamp.pk}/do/list-again/")
    lamp.refresh_from_db()
    assert lamp.listed


def test_the_list_takes_the_same_queries_for_one_product_and_for_many(ana, acme, lamp, a_variant):
    def count_queries():
        ana.get(LIST)
        with CaptureQueriesContext(connection) as captured:
            ana.get(LIST)
        return len(captured)

    few = count_queries()
    for number in range(5):
        a_variant(acme, f"MANY-{number}", stock=1)
    assert count_queries() == few
