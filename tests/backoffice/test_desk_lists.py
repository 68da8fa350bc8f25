"""The count of each kind of open work is the number of rows behind its link, with and without filters."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from backoffice.desk.kinds import BY_NAME
from backoffice.navigation.counting import KEY, count_waiting
from events.models import Event
from events.recording import record
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import OrderLine
from tests.factories import ContactFactory, ContactMessageFactory, DeliveryFactory, WebhookFactory

DESK = "/admin/desk/"
LONG_AGO = timezone.now() - timedelta(days=30)


@pytest.fixture(autouse=True)
def _nothing_counted():
    cache.delete(KEY)
    yield
    cache.delete(KEY)


@pytest.fixture
def works(acme, shop, a_variant, pushed):
    """Create three orders of Shop, with one fulfillment each."""
    a_variant(acme, "LAN-1", stock=10)
    return [pushed(shop, {"sku": "LAN-1", "quantity": 2}).fulfillments.get() for _ in range(3)]


def behind(client, name):
    """Return the records that the link of a kind opens."""
    page = client.get(BY_NAME[name].url)
    assert page.status_code == 200
    if "cl" in page.context:
        return list(page.context["cl"].result_list)
    return [item.record for item in page.context["items"]]


def update(record, **values):
    type(record).objects.filter(pk=record.pk).update(**values)


def test_the_link_of_overdue_work_opens_the_counted_rows(operator, works):
    overdue, uncaptured, canceling = works
    update(overdue, due_at=LONG_AGO)
    update(uncaptured, due_at=None, capture_due_at=LONG_AGO)
    update(canceling, due_at=LONG_AGO, state=State.CANCELING)

    assert count_waiting()["overdue"] == "1"
    assert behind(operator, "overdue") == [overdue]


def test_the_link_of_failing_webhooks_opens_the_counted_rows(operator, shop, acme):
    down, gave_up, _ = (WebhookFactory.create(retailer=shop) for _ in range(3))
    update(down, failing_since=LONG_AGO)
    record("supplier.created", by=Actor(ActorKind.SYSTEM, "system:x"), supplier=acme)
    Event.publish()
    DeliveryFactory.create(webhook=gave_up, event=Event.objects.get(), status="dead", next_attempt_at=None)

    assert count_waiting()["webhook"] == "2"
    assert {webhook.pk for webhook in behind(operator, "webhook")} == {down.pk, gave_up.pk}


def test_the_link_of_backordered_orders_opens_each_counted_order_once(
    operator, acme, shop, a_variant, pushed
):
    for sku in ("LAN-1", "LAN-2"):
        a_variant(acme, sku, stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2}, {"sku": "LAN-2", "quantity": 2})
    OrderLine.objects.update(waiting_since=LONG_AGO, reserved=1)

    assert count_waiting()["backordered"] == "1"
    assert behind(operator, "backordered") == [order]
    listed = operator.get("/admin/orders/orderline/?waiting=1").context
    assert listed["cl"].result_count == 2
    entries = {link.label: link for each in listed["navigation"] for link in each.links}
    assert (entries["Backordered lines"].is_current, entries["Backordered lines"].count) == (True, "")


def test_the_retailer_filter_shows_the_retailers_webhooks_and_answers(operator, acme, shop, boutique):
    for party in (shop, boutique, acme):
        role = {party.role.value: party}
        ContactMessageFactory.create(
            contact=ContactFactory.create(**role), is_answer=True, by="member:7", text=f"From {party}"
        )
    for retailer in (shop, boutique):
        WebhookFactory.create(retailer=retailer, failing_since=LONG_AGO)

    items = operator.get(DESK, {"retailer": shop.pk}).context["items"]

    assert {(item.kind.name, item.parties) for item in items} == {("answer", "Shop"), ("webhook", "Shop")}


def test_the_retailer_filter_keeps_orders_and_fulfillments_and_hides_stock(operator, works, shop, boutique):
    Fulfillment.objects.update(due_at=LONG_AGO)
    update(works[0].order, held=True)

    def kinds(retailer):
        return [item.kind.name for item in operator.get(DESK, {"retailer": retailer.pk}).context["items"]]

    assert sorted(kinds(shop)) == ["held", "overdue", "overdue"]
    assert kinds(boutique) == []
