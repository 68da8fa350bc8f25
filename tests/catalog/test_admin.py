"""The admin pages of variants."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import PRICE_FIELDS, Variant
from events.models import Event
from tests.factories import StaffFactory, VariantFactory

LIST = "/admin/catalog/variant/"


@pytest.fixture
def operator(db):
    client = Client()
    client.force_login(StaffFactory.create(username="olga", is_superuser=True))
    return client


def form_of(variant, **changes):
    fields = {
        "sku": variant.sku,
        "title": variant.title,
        "retail_price": variant.retail_price,
        "description_bullets": "",
        "options": "[]",
        "properties": "[]",
        "special_sale_price_start": "",
        "listed": "on",
    }
    return {**fields, **changes}


def test_the_search_finds_by_the_beginning_of_a_sku_or_a_whole_number(acme, operator, a_variant):
    a_variant(acme, "TS-1", upc="036000291452")
    a_variant(acme, "TS-2", ean="4006381333931")
    a_variant(acme, "X-TS", gtin="10012345678902")

    def found(term):
        return sorted(each.sku for each in operator.get(LIST, {"q": term}).context["cl"].result_list)

    assert found("TS") == ["TS-1", "TS-2"]
    assert found("036000291452") == ["TS-1"]
    assert found("4006381333931") == ["TS-2"]
    assert found("10012345678902") == ["X-TS"]
    assert found("S-1") == []


def test_every_part_of_the_search_has_an_index(acme, operator):
    VariantFactory.create_in_bulk(3000, supplier=acme)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalog_variant")
    terms = ("TS", "036000291452", "4006381333931", "10012345678902")
    for term in terms:
        with CaptureQueriesContext(connection) as statements:
            operator.get(LIST, {"q": term})
        sql = next(each["sql"] for each in statements if "LOWER" in each["sql"])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
            cursor.execute(f"EXPLAIN {sql}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            cursor.execute("RESET enable_seqscan; RESET enable_indexscan")
        assert "variant_sku_folded" in plan, plan
        assert "Seq Scan on catalog_variant" not in plan, plan


def test_a_longer_list_costs_no_more_queries(acme, operator, a_variant):
    a_variant(acme, "A-0")
    with CaptureQueriesContext(connection) as one:
        operator.get(LIST)
    for number in range(1, 10):
        a_variant(acme, f"A-{number}")
    with CaptureQueriesContext(connection) as ten:
        operator.get(LIST)

    assert len(ten) == len(one)


def test_the_event_of_an_operators_change_names_the_operator(acme, operator, a_variant):
    variant = a_variant(acme, "TS-1")

    answer = operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, retail_price="25.5"))

    assert answer.status_code == 302, answer.context["adminform"].form.errors
    variant.refresh_from_db()
    assert variant.retail_price == 25.5
    event = Event.objects.get()
    assert (event.type, event.actor) == ("variant.updated", "user:olga")
    assert event.data["changed"] == {"retail_price": {"from": "19.99", "to": "25.5"}}


def test_an_operator_adds_a_variant(acme, operator, a_variant):
    like = VariantFactory.build(sku="NEW")

    answer = operator.post(f"{LIST}add/", form_of(like, supplier=acme.pk))

    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert Variant.objects.get().supplier == acme
    assert Event.objects.get().actor == "user:olga"


@pytest.mark.parametrize(
    ("numbers", "field", "message"),
    [
        ({"upc": "036000291453"}, "upc", "The check digit is wrong: after 03600029145 comes 2, not 3."),
        ({"ean": "12345"}, "ean", "Must have 8 or 13 digits."),
        ({"gtin": "ABC"}, "gtin", "Must have 8 or 12 or 13 or 14 digits."),
        ({"gtin": "036000291452", "upc": "012345678905"}, "gtin", "Contradicts the upc 012345678905."),
    ],
)
def test_the_form_refuses_a_wrong_article_number_at_its_field(
    acme, operator, a_variant, numbers, field, message
):
    variant = a_variant(acme, "TS-1")

    answer = operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, **numbers))

    assert answer.status_code == 200
    assert message in answer.context["adminform"].form.errors[field][0]


def test_the_form_fills_in_the_upc_of_a_gtin(acme, operator, a_variant):
    variant = a_variant(acme, "TS-1")

    assert (
        operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, gtin="036000291452")).status_code == 302
    )

    variant.refresh_from_db()
    assert (variant.gtin, variant.upc) == ("036000291452", "036000291452")


@pytest.mark.parametrize("path", ["add/", "{}/change/"])
def test_the_form_refuses_a_fraction_at_its_price_if_the_currency_has_none(acme, operator, a_variant, path):
    variant = a_variant(acme, "TS-1", wholesale_price="7.5")
    acme.currency = "JPY"
    acme.save()
    form = form_of(variant, sku="TS-2", supplier=acme.pk, wholesale_price="7.5", retail_price="10.5")

    answer = operator.post(f"{LIST}{path.format(variant.pk)}", form)

    errors = answer.context["adminform"].form.errors
    assert errors["retail_price"] == ["JPY has no fraction. Send a whole number."]
    # The price that was stored before the change of the currency does not block the form.
    assert ("wholesale_price" in errors) == (path == "add/")


def test_the_form_refuses_a_sku_that_appeared_after_its_check(acme, operator, a_variant, monkeypatch):
    a_variant(acme, "TS-1")
    found, add = Variant.validate_constraints, Variant.add

    def add_later(*args, **kwargs):
        monkeypatch.setattr(Variant, "validate_constraints", found)
        return add(*args, **kwargs)

    monkeypatch.setattr(Variant, "validate_constraints", lambda *_, **__: None)  # the check finds nothing yet
    monkeypatch.setattr(Variant, "add", add_later)

    answer = operator.post(f"{LIST}add/", form_of(VariantFactory.build(sku="TS-1"), supplier=acme.pk))

    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors
    assert answer.context["adminform"].form["sku"].value() == "TS-1"


def test_the_form_refuses_a_sku_that_another_variant_has(acme, operator, a_variant):
    a_variant(acme, "TS-1")
    variant = a_variant(acme, "TS-2")

    answer = operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, sku="TS-1"))

    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, "A price cannot be negative.") for name in PRICE_FIELDS),
        ("weight", "A weight cannot be negative."),
    ],
)
def test_the_form_refuses_a_negative_number_at_its_field(acme, operator, a_variant, name, message):
    variant = a_variant(acme, "TS-1")

    answer = operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, **{name: "-1"}))

    assert answer.context["adminform"].form.errors == {name: [message]}


def test_no_form_names_a_constraint_to_its_reader(acme, shop, operator):
    pairs = {"supplier": acme.pk, "retailer": shop.pk}
    pages = [
        operator.post("/admin/accounts/partnership/add/", {**pairs, "service_types": "DS"}),
        operator.post("/admin/accounts/contact/add/", {**pairs, "name": "Ana"}),
        operator.post("/admin/accounts/apikey/add/", {**pairs, "name": "ERP"}),
    ]
    texts = [page.context["adminform"].form.non_field_errors() for page in pages]

    assert (
        "This retailer and this supplier are partners already. Change their partnership instead." in texts[0]
    )
    assert "A contact belongs to a supplier or to a retailer. Choose one." in texts[1]
    assert not any("Constraint" in text for found in texts for text in found)


def test_variants_are_delisted_and_listed_again_but_never_deleted(acme, operator, a_variant):
    first, second = a_variant(acme, "A-1"), a_variant(acme, "A-2", listed=False)

    def act(action):
        chosen = {"action": action, "_selected_action": [first.pk, second.pk]}
        page = operator.post(LIST, chosen, follow=True)
        confirm = f"{page.request['PATH_INFO']}confirm/"
        done = operator.post(confirm, {"reason": "The supplier asked for it"}, follow=True)
        return page.content.decode(), done.content.decode()

    asked, done = act("delist")
    assert "1 will be done; 1 left out" in asked
    assert "1 done" in done
    assert not Variant.objects.filter(listed=True).exists()
    assert "2 done" in act("list-again")[1]
    assert Event.objects.count() == 3
    assert Event.objects.earliest("id").data["operator_reason"] == "The supplier asked for it"
    assert operator.get(f"{LIST}{first.pk}/delete/").status_code == 403


def test_the_page_of_a_variant_is_short_and_shows_its_picture_after_a_click(acme, operator, a_variant):
    variant = a_variant(
        acme, "TS-1", stock=7, images="ftp://x/1.jpg|https://pictures.test/ts.jpg", upc="036000291452"
    )
    page = operator.get(f"{LIST}{variant.pk}/change/")
    assert 'href="https://pictures.test/ts.jpg" rel="noreferrer noopener"' in page.text
    assert "<img" not in page.text.partition("<main")[2], "the picture is loaded only after a click"
    assert "img-src 'self' data: https:" in page.headers["Content-Security-Policy"]
    assert "https:" not in operator.get(LIST).headers["Content-Security-Policy"]
    assert "036000291452" in page.text
    assert f"/admin/accounts/supplier/{acme.pk}/overview/" in page.text
    folded = {
        title: "collapse" in options.get("classes", ())
        for title, options in page.context["adminform"].fieldsets
    }
    assert [title for title, is_folded in folded.items() if not is_folded] == ["Prices", "Stock", "History"]
    assert [title for title, is_folded in folded.items() if is_folded] == [
        "Sale period",
        "Product",
        "Content",
    ]
    wrong = operator.post(f"{LIST}{variant.pk}/change/", form_of(variant, sku=""))
    product = next(each for each in wrong.context["adminform"] if each.name == "Product")
    assert not product.is_collapsible  # a field with an error must be visible
