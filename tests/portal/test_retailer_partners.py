"""A retailer's partners with their terms and numbers, and the returns of its orders."""

from __future__ import annotations

import pytest

from accounts.models import Partnership
from fulfillments.models import Return
from tests.factories import ReturnFactory

RETURNS = "/portal/returned/"


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10)
    return pushed(shop, {"sku": "LAMP", "quantity": 1}, retailer_order_id="SO-1").fulfillments.get()


@pytest.fixture
def returned(work, rival, boutique, a_variant, pushed):
    """Create a return of Shop's order, and a return of Boutique's order with the same number."""
    a_variant(rival, "VASE", stock=10)
    foreign = pushed(boutique, {"sku": "VASE", "quantity": 1}, retailer_order_id="SO-1").fulfillments.get()
    ReturnFactory.create(fulfillment=foreign, return_id="R-7", reason="of Boutique")
    return ReturnFactory.create(fulfillment=work, return_id="R-7", reason="Too large")


def found(client, path=RETURNS, **asked):
    return [row.pk for row, _ in client.get(path, asked).context["rows"]]


def test_the_partners_are_listed_with_their_state_and_the_terms_are_on_their_page(sam, shop, acme, boutique):
    Partnership.objects.filter(retailer=shop, supplier=acme).update(is_active=False, hours_to_ship=48)
    partners = sam.get("/portal/suppliers/").context["partners"]
    assert {(each.supplier.name, each.state) for each in partners} == {
        ("Acme", "ended"),
        ("Rival", "trading"),
    }

    own = Partnership.objects.get(retailer=shop, supplier=acme)
    terms = dict(sam.get(f"/portal/suppliers/{own.pk}/").context["terms"])
    assert terms["Time to ship"] == "48 hours"
    foreign = Partnership.objects.get(retailer=boutique)
    assert sam.get(f"/portal/suppliers/{foreign.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Let the supplier decide"),
        ({"refuse_short_orders": True}, "Refuse the order"),
        ({"when_short": "wait", "refuse_short_orders": True}, "Wait for stock"),
        ({"when_short": "refuse"}, "Refuse the order"),
    ],
)
def test_the_terms_say_what_happens_to_units_that_are_not_in_stock(sam, shop, acme, fields, text):
    own = Partnership.objects.get(retailer=shop, supplier=acme)
    Partnership.objects.filter(pk=own.pk).update(**fields)

    terms = dict(sam.get(f"/portal/suppliers/{own.pk}/").context["terms"])
    assert terms["Units that are not in stock"] == text


@pytest.mark.parametrize("term", ["", "SO-1", "R-7"])
def test_only_own_returns_are_listed_and_found_by_both_numbers(sam, returned, term):
    assert found(sam, q=term) == [returned.pk]
    assert found(sam, q=f"{term}X") == []


def test_the_page_of_a_return_has_its_reason_and_leads_to_its_order(sam, returned):
    page = sam.get(f"{RETURNS}{returned.pk}/").text
    assert "Too large" in page
    assert "R-7" in page
    assert f"/portal/purchases/{returned.fulfillment.order_id}/" in page


def test_the_database_names_the_parties_of_each_return(returned, acme, shop):
    stored = Return.objects.get(pk=returned.pk)
    assert (stored.supplier, stored.retailer) == (acme, shop)
