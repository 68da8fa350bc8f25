"""Currencies: records keep their currency, and amounts in two currencies are never converted or added."""

import json

import pytest

from accounts.models import Supplier
from events.models import Event
from fulfillments.models import Fulfillment
from orders.models import Order

ADDRESS = {"address1": "1 Main St", "country": "US"}


def body(number, **fields):
    return {
        "retailer_order_id": number,
        "shipping_address": ADDRESS,
        "order_lines": [{"sku": "LAMP", "quantity": 1, "billed_amount": 10}],
        **fields,
    }


def set_currency(party, code):
    party.currency = code
    party.save(update_fields=["currency"])


def test_an_order_has_its_own_currency_or_the_retailers(acme, shop, a_variant, client_for):
    a_variant(acme, "LAMP", stock=9, wholesale_price="5")
    set_currency(shop, "EUR")
    api = client_for(shop)

    default, own = (api.post("orders", each) for each in (body("1"), body("2", currency="gbp")))
    again = api.post("orders", body("1", currency="EUR"))

    read = [api.get(f"orders/{each.json()['order_id']}").json() for each in (default, own)]
    assert [each["currency"] for each in read] == ["EUR", "GBP"]
    assert again.json()["code"] == "order_exists"
    assert api.post("orders", body("1", currency="USD")).json()["errors"][0]["field"] == "currency"
    assert api.get("").json()["currency"] == "EUR"


@pytest.mark.parametrize("code", ["XYZ", "EURO", "€", ""])
def test_an_unknown_currency_is_refused(acme, shop, a_variant, client_for, code):
    a_variant(acme, "LAMP", stock=9)

    refused = client_for(shop).post("orders", body("1", currency=code))

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_currency")
    assert refused.json()["errors"][0]["field"] == "currency"
    assert not Order.objects.exists()


def test_every_amount_refuses_a_fraction_of_a_yen(acme, shop, a_variant, client_for):
    a_variant(acme, "LAMP", stock=9)
    set_currency(shop, "JPY")
    line = {"sku": "LAMP", "quantity": 1, "billed_amount": 10.5, "tax_billed_amount": 1.1}
    api = client_for(shop)

    refused = api.post("orders", body("1", order_lines=[line], shipping_paid=0.5))

    assert (refused.status_code, refused.json()["code"]) == (400, "validation_error")
    assert [each["field"] for each in refused.json()["errors"]] == [
        "shipping_paid",
        "order_lines[0].billed_amount",
        "order_lines[0].tax_billed_amount",
    ]
    assert not Order.objects.exists()
    assert api.post("orders", body("1", shipping_paid="500.0")).status_code == 201


def test_a_price_of_a_yen_supplier_has_no_fraction(acme, client_for):
    set_currency(acme, "JPY")
    api = client_for(acme)
    variant = {"sku": "LAMP", "title": "Lamp", "retail_price": 1000}

    assert api.post("variants", {**variant, "wholesale_price": 10.5}).json()["errors"] == [
        {
            "field": "wholesale_price",
            "code": "max_decimal_places",
            "message": "JPY has no fraction. Send a whole number.",
        }
    ]
    created = api.post("variants", variant).json()
    assert api.request("patch", f"variants/{created['id']}", {"retail_price": 0.5}).status_code == 400


def test_a_fulfillment_keeps_the_currency_of_its_placement(acme, shop, a_variant, client_for):
    a_variant(acme, "LAMP", stock=9, wholesale_price="5")
    set_currency(acme, "EUR")
    client_for(shop).post("orders", body("1"))
    set_currency(acme, "GBP")

    [work] = client_for(acme).get("fulfillments").json()
    [part] = client_for(shop).get("orders").json()["results"][0]["fulfillments"]
    assert (work["currency"], part["currency"]) == ("EUR", "EUR")
    assert client_for(acme).get("").json()["currency"] == "GBP"


def test_routing_does_not_compare_prices_in_several_currencies(acme, rival, shop, a_variant, client_for):
    for supplier, price in ((acme, "900"), (rival, "8")):
        a_variant(supplier, "LAMP", stock=9, upc="036000291452", wholesale_price=price)
    set_currency(acme, "JPY")
    Supplier.objects.filter(pk=acme.pk).update(priority=1)
    line = {"upc": "036000291452", "quantity": 1}
    api = client_for(shop)

    mixed = api.post("orders", body("1", order_lines=[line])).json()["order_id"]
    set_currency(acme, "USD")
    one = api.post("orders", body("2", order_lines=[line])).json()["order_id"]

    chosen = dict(Fulfillment.objects.values_list("order_id", "supplier_id"))
    assert chosen == {mixed: acme.pk, one: rival.pk}
    [decision] = api.get(f"orders/{mixed}/routing").json()["decisions"]
    considered = decision["lines"][0]["candidates"]
    assert [(each["cost"], each["currency"]) for each in considered] == [("900", "JPY"), ("8", "USD")]
    assert "several currencies are not compared" in considered[1]["reason"]


def test_amounts_in_two_currencies_are_listed_separately(
    operator, acme, rival, shop, a_variant, pushed, client_for
):
    a_variant(acme, "LAMP", stock=10, wholesale_price="7.5")
    a_variant(rival, "RUG", stock=10, wholesale_price="900")
    set_currency(rival, "JPY")
    order = pushed(shop, {"sku": "LAMP", "quantity": 2}, {"sku": "RUG", "quantity": 1})
    page = operator.get(f"/admin/orders/order/{order.pk}/change/").text
    for party in (acme, rival):
        number = order.fulfillments.get(supplier=party).pk
        client_for(party).put(f"fulfillments/{number}/setStatus/out_of_stock")

    [item] = operator.get("/admin/").context["gathered"].items
    assert [(each.currency, each.amount) for each in item.money] == [("JPY", 900), ("USD", 15)]
    assert "900\u00a0JPY" in page
    assert "15.00\u00a0USD" in page


def test_operators_change_a_currency_by_an_action_that_names_its_effect(
    operator, acme, shop, a_variant, pushed, client_for
):
    a_variant(acme, "LAMP", stock=10, retail_price="9.5", wholesale_price="7.5")
    order = pushed(shop, {"sku": "LAMP", "quantity": 2})
    stamp = client_for(shop).get("variants", {"service_type": "ecommerce"}).headers["ETag"]
    path = f"/admin/accounts/supplier/{acme.pk}/do/currency/"

    page = operator.get(path)
    operator.post(path, {"currency": "EUR", "reason": "moved to Berlin"})

    acme.refresh_from_db()
    pull = client_for(shop).get("variants", {"service_type": "ecommerce"}, HTTP_IF_NONE_MATCH=stamp)
    assert page.context["effect"] == ("Prices keep their numbers in the new currency. Open orders keep USD.")
    assert "2 prices of 1 variant will" in page.text
    assert "1 open order keeps USD" in page.text
    assert (acme.currency, order.fulfillments.get().currency) == ("EUR", "USD")
    assert (pull.status_code, json.loads(b"".join(pull.streaming_content))[0]["currency"]) == (200, "EUR")
    changed = Event.objects.get(type="supplier.updated").data["changed"]
    assert changed == {"currency": {"from": "USD", "to": "EUR"}}


def test_a_currency_can_be_changed_while_orders_arrive_but_not_over_a_colleagues_change(
    operator, shop, acme, a_variant, pushed
):
    a_variant(acme, "LAMP", stock=10)
    path = f"/admin/accounts/retailer/{shop.pk}/do/currency/"
    seen = operator.get(path).context["effect"]
    sent = {"currency": "EUR", "reason": "moved to Berlin", "seen_effect": seen}
    pushed(shop, {"sku": "LAMP", "quantity": 1})

    assert operator.post(path, sent).status_code == 302
    assert "Open orders keep EUR." in operator.post(path, {**sent, "currency": "GBP"}).text
    shop.refresh_from_db()
    assert shop.currency == "EUR"
