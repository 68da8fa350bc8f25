"""The choice of supplier and warehouse: fewest fulfillments, then cost, then priority (contract 4)."""

from __future__ import annotations

import pytest

from accounts.models import Supplier
from fulfillments.models import Fulfillment
from inventory.models import StockLevel, Warehouse
from orders.models import Order
from tests.factories import PartnershipFactory, StockLevelFactory, SupplierFactory, WarehouseFactory
from tests.orders.push_bodies import an_order


@pytest.fixture
def third(shop):
    """Create a third supplier that Shop buys from."""
    supplier = SupplierFactory.create(name="Third")
    WarehouseFactory.create(supplier=supplier, name="Third East", is_default=True)
    PartnershipFactory.create(retailer=shop, supplier=supplier)
    return supplier


@pytest.fixture
def offer(a_variant):
    """Return a function that creates a variant with a wholesale price and units per warehouse.

    The units of the default warehouse come first.
    """

    def make(supplier, sku, price, *stock):
        variant = a_variant(supplier, sku, wholesale_price=price)
        warehouses = supplier.warehouses.order_by("-is_default", "pk")
        for warehouse, on_hand in zip(warehouses, stock, strict=False):
            StockLevelFactory.create(variant=variant, warehouse=warehouse, on_hand=on_hand)
        return variant

    return make


def want(sku, quantity=1, **more):
    return {"sku": sku, "quantity": quantity, **more}


def plan(order) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the units and reserved units by warehouse and sku."""
    works = Fulfillment.objects.filter(order=order).order_by("warehouse__name")
    return {
        work.warehouse.name: {
            line.variant.sku: (line.quantity, line.reserved)
            for line in work.lines.select_related("variant").order_by("variant__sku")
        }
        for work in works.select_related("warehouse")
    }


def test_one_fulfillment_is_better_than_two_cheaper_ones(acme, rival, third, offer, push):
    offer(acme, "LAMP", "1", 9)
    offer(rival, "RUG", "1", 9)
    for sku in ("LAMP", "RUG"):
        offer(third, sku, "50", 9)

    assert plan(push(want("LAMP"), want("RUG"))) == {"Third East": {"LAMP": (1, 1), "RUG": (1, 1)}}


def test_the_cheapest_of_equal_plans_is_taken(acme, rival, offer, push):
    offer(acme, "LAMP", "10.01", 9)
    offer(rival, "LAMP", "10", 9)

    assert plan(push(want("LAMP", 2))) == {"Rival East": {"LAMP": (2, 2)}}


def test_cost_counts_units_not_lines(acme, rival, offer, push):
    """Acme's single lamp is much dearer; Rival's ten rugs are a little dearer each."""
    for supplier, lamp, rug in ((acme, "10", "1"), (rival, "5", "2")):
        offer(supplier, "LAMP", lamp, 20)
        offer(supplier, "RUG", rug, 20)

    assert [*plan(push(want("LAMP", 1), want("RUG", 10)))] == ["Acme East"]
    assert [*plan(push(want("LAMP", 3), want("RUG", 10)))] == ["Rival East"]


@pytest.mark.parametrize("first", ["Acme", "Rival"])
def test_at_equal_cost_the_suppliers_priority_decides(first, acme, rival, offer, push):
    Supplier.objects.filter(name=first).update(priority=1)
    for supplier in (acme, rival):
        offer(supplier, "LAMP", "10", 9)

    assert [*plan(push(want("LAMP")))] == [f"{first} East"]


def test_without_a_wholesale_price_the_retail_price_counts_as_the_cost(acme, rival, offer, push):
    offer(acme, "LAMP", None, 9)  # its retail price is 19.99
    offer(rival, "LAMP", "19.98", 9)

    assert [*plan(push(want("LAMP")))] == ["Rival East"]


def test_a_supplier_with_all_units_ships_them_at_any_price(acme, rival, offer, push):
    offer(acme, "LAMP", "1", 2)
    offer(rival, "LAMP", "99", 3)

    assert plan(push(want("LAMP", 3))) == {"Rival East": {"LAMP": (3, 3)}}


def test_an_order_that_no_supplier_has_alone_is_split(acme, rival, offer, push):
    offer(acme, "LAMP", "1", 2)
    offer(rival, "LAMP", "99", 2)

    assert plan(push(want("LAMP", 3))) == {"Acme East": {"LAMP": (2, 2)}, "Rival East": {"LAMP": (1, 1)}}


def test_a_suppliers_lines_go_to_as_few_warehouses_as_hold_them(acme, offer, push):
    offer(acme, "LAMP", "1", 5, 5)
    offer(acme, "RUG", "1", 0, 5)

    assert plan(push(want("LAMP"), want("RUG"))) == {"Acme West": {"LAMP": (1, 1), "RUG": (1, 1)}}


def test_the_default_warehouse_is_chosen_among_equal_warehouses(acme, offer, push):
    west = Warehouse.objects.get(name="Acme West")
    Warehouse.objects.filter(name="Acme East").update(is_default=False)
    Warehouse.objects.filter(pk=west.pk).update(is_default=True)
    offer(acme, "LAMP", "1", 5, 5)

    assert [*plan(push(want("LAMP")))] == ["Acme West"]


def test_two_lines_of_one_sku_share_its_stock(acme, rival, offer, push):
    offer(acme, "LAMP", "1", 3)
    offer(rival, "LAMP", "2", 3)

    order = push(want("LAMP", 3), want("LAMP", 2))

    assert plan(order).keys() == {"Acme East", "Rival East"}
    assert [*order.lines.values_list("open", "reserved")] == [(3, 3), (2, 2)]


def test_pinned_and_free_lines_are_planned_together(acme, rival, offer, push):
    """The free rug joins the fulfillment of the pinned lamp, although Acme is cheaper."""
    offer(rival, "LAMP", "9", 9)
    offer(rival, "RUG", "9", 9)
    offer(acme, "RUG", "1", 9)

    assert [*plan(push(want("LAMP", supplier_id=rival.pk), want("RUG")))] == ["Rival East"]


# --- Short orders --------------------------------------------------------------------------------


def test_short_units_go_to_the_best_suppliers_default_warehouse(acme, rival, offer, push, shop_api):
    offer(acme, "LAMP", "2", 0)
    offer(rival, "LAMP", "1")

    order = push(want("LAMP", 4))

    assert plan(order) == {"Rival East": {"LAMP": (4, 0)}}
    [line] = shop_api.get(f"orders/{order.pk}").json()["order_lines"]
    assert (line["quantity_reserved"], line["short"]) == (0, 4)


def test_the_available_units_of_a_short_line_are_reserved(acme, offer, push, shop_api):
    offer(acme, "LAMP", "1", 3)

    order = push(want("LAMP", 5))

    assert plan(order) == {"Acme East": {"LAMP": (5, 3)}}
    [line] = shop_api.get(f"orders/{order.pk}").json()["order_lines"]
    assert (line["quantity_reserved"], line["short"]) == (3, 2)


def test_the_safety_stock_is_never_promised(acme, offer, push):
    Supplier.objects.filter(pk=acme.pk).update(safety_stock=4)
    offer(acme, "LAMP", "1", 5)

    assert plan(push(want("LAMP", 2))) == {"Acme East": {"LAMP": (2, 1)}}
    assert StockLevel.objects.get().reserved == 1


def test_reserved_units_are_not_promised_again(acme, offer, push):
    offer(acme, "LAMP", "1", 5)
    push(want("LAMP", 4))

    assert plan(push(want("LAMP", 2))) == {"Acme East": {"LAMP": (2, 1)}}
    assert StockLevel.objects.get().reserved == 5


def test_a_partner_without_short_orders_refuses_the_whole_order(acme, rival, offer, shop, shop_api):
    shop.partnerships.filter(supplier=acme).update(refuse_short_orders=True)
    offer(acme, "LAMP", "1", 3)
    offer(rival, "RUG", "1", 3)

    answer = shop_api.post("orders", an_order(want("RUG"), want("LAMP", 5)))

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_stock")
    [error] = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("order_lines[1].quantity", "insufficient_stock")
    assert "3 of 5" in error["message"]
    assert not Order.objects.exists()
    assert not StockLevel.objects.filter(reserved__gt=0).exists()


def test_a_partner_that_refuses_short_orders_gets_only_its_stock(acme, offer, shop, push):
    shop.partnerships.filter(supplier=acme).update(refuse_short_orders=True)
    offer(acme, "LAMP", "1", 3)

    assert plan(push(want("LAMP", 3))) == {"Acme East": {"LAMP": (3, 3)}}


def test_the_missing_units_go_to_a_partner_that_takes_short_orders(acme, rival, offer, shop, push):
    shop.partnerships.filter(supplier=acme).update(refuse_short_orders=True)
    offer(acme, "LAMP", "1", 3)
    offer(rival, "LAMP", "2", 0)

    assert plan(push(want("LAMP", 5))) == {"Acme East": {"LAMP": (3, 3)}, "Rival East": {"LAMP": (2, 0)}}


def test_a_supplier_without_a_warehouse_gets_no_short_units(shop, a_variant, shop_api):
    supplier = SupplierFactory.create(name="Third")
    PartnershipFactory.create(retailer=shop, supplier=supplier)
    a_variant(supplier, "LAMP")

    answer = shop_api.post("orders", an_order(want("LAMP")))

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_stock")


# --- Reasons -------------------------------------------------------------------------------------


def test_each_decision_is_kept_with_its_candidates_and_reasons(acme, rival, offer, push, shop_api, acme_api):
    offer(acme, "LAMP", "1", 9)
    offer(rival, "LAMP", "2", 9)
    order = push(want("LAMP", 3))
    acme_api.put(f"fulfillments/{Fulfillment.objects.get().pk}/setStatus/out_of_stock")

    shown = shop_api.get(f"orders/{order.pk}/routing").json()

    assert shown["order_id"] == order.pk
    assert [each["cause"] for each in shown["decisions"]] == ["order.created", "refused"]
    reasons = [
        {
            each["supplier_id"]: (each["quantity"], each["reason"])
            for each in decision["lines"][0]["candidates"]
        }
        for decision in shown["decisions"]
    ]
    assert reasons == [
        {
            acme.pk: (3, "Chosen for 3 of 3, all in stock."),
            rival.pk: (0, "Not chosen: costs 2, the chosen one 1."),
        },
        {
            acme.pk: (0, "Not asked: this warehouse was out of stock for the line before."),
            rival.pk: (3, "Chosen for 3 of 3, all in stock."),
        },
    ]


def test_the_routing_of_another_retailers_order_is_not_shown(acme, offer, push, boutique, client_for):
    offer(acme, "LAMP", "1", 9)

    assert client_for(boutique).get(f"orders/{push(want('LAMP')).pk}/routing").status_code == 404
