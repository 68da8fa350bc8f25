"""Lists of partners begin with the most trouble, and the home page compares this week with last week."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.core.cache import cache
from django.utils import timezone

from backoffice.market import KEY, sum_up
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.factories import ImportJobFactory

LIST = "/admin/accounts/{}/"


def rows(client, role, **filters):
    page = client.get(LIST.format(role), filters)
    assert page.status_code == 200
    return [(party.name, str(party.trouble or "")) for party in page.context["cl"].result_list]


def test_lists_of_partners_begin_with_most_trouble(operator, acme, rival, shop, boutique, fulfillment):
    assert rows(operator, "supplier") == [("Acme", ""), ("Rival", "")]
    ImportJobFactory.create_in_bulk(2, supplier=rival, status="awaiting_approval")
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(hours=1))
    assert rows(operator, "supplier") == [("Rival", "Imports to check: 2"), ("Acme", "Overdue: 1")]
    assert rows(operator, "supplier", o="0") == [("Acme", "Overdue: 1"), ("Rival", "Imports to check: 2")]
    Order.objects.update(held=True)
    assert rows(operator, "retailer")[0] == ("Shop", "Held: 1")
    assert f"/admin/accounts/supplier/{rival.pk}/overview/" in operator.get(LIST.format("supplier")).text


def test_the_home_page_shows_this_week_beside_last_week(operator, acme, shop, pushed, a_variant):
    cache.delete(KEY)
    assert operator.get("/admin/").context["market"] is None
    a_variant(acme, "LAN-1", stock=10, wholesale_price="12.50")
    pushed(shop, {"sku": "LAN-1", "quantity": 2})
    last_week = pushed(shop, {"sku": "LAN-1", "quantity": 1})
    Order.objects.filter(pk=last_week.pk).update(created_at=timezone.now() - timedelta(days=8))
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(hours=1))
    market = sum_up()
    assert (market.orders, market.orders_before, market.more_orders) == (1, 1, Decimal(0))
    acme.refresh_from_db()
    assert [(each.currency, each.now, each.before, each.change) for each in market.amounts] == [
        (acme.currency, Decimal(25), Decimal("12.5"), Decimal(100))
    ]
    a_variant(acme, "MUG-1", stock=10)
    pushed(shop, {"sku": "MUG-1", "quantity": 2, "billed_amount": 30})  # 30 is the amount of the two units
    [amount] = sum_up().amounts
    assert amount.now == 55
    page = operator.get("/admin/").text
    assert f"Amount, {acme.currency}" in page
    assert "+100.0 %" in page
    assert "Overdue: 2" in page
    cache.delete(KEY)
