"""A timeline with more entries than the limit keeps the newest entries, in the usual order."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from events.models import Event
from events.recording import record
from events.timeline import timeline
from fulfillments.timeline import order_timeline
from portal.buying.selectors import retailer_history
from portal.supplying.selectors import supplier_history

NEWEST = [f"note {number}" for number in range(4, 7)]


@pytest.fixture
def noted(monkeypatch, order, fulfillment):
    """Give an order six events more, and limit timelines to three entries."""
    for module in ("events.timeline", "fulfillments.timeline"):
        monkeypatch.setattr(f"{module}.LONGEST", 3)
    for number in range(1, 7):
        record(
            "fulfillment.ship_by_changed",
            by=Actor(ActorKind.SYSTEM, f"system:note {number}", f"request-{number}"),
            order_id=order.pk,
            fulfillment_id=fulfillment.pk,
            supplier=fulfillment.supplier,
            retailer=order.retailer,
            data={"ship_until": "2027-01-01"},
        )
        # A test is one transaction, in which all rows have the same time.
        later = timezone.now() + timedelta(minutes=number)
        Event.objects.filter(pk=Event.objects.latest("id").pk).update(occurred_at=later)
    return order


def actors(entries):
    return [entry.by.rpartition("(")[2].rstrip(")") for entry in entries]


def test_the_newest_entries_of_an_order_stay_and_older_ones_are_mentioned(operator, noted):
    entries, more = order_timeline(noted.pk, {})
    assert (actors(entries), more) == (NEWEST, True)
    page = operator.get(f"/admin/orders/order/{noted.pk}/change/").text
    assert "Older entries are not shown here." in page


def test_the_newest_events_of_a_record_stay(noted):
    shown = timeline(("orders.order", noted.pk), order_id=noted.pk)
    assert actors(shown) == NEWEST


def test_partners_see_the_newest_events(noted, fulfillment):
    newest = Event.objects.order_by("-id").values_list("occurred_at", flat=True)[:3]
    for history in (retailer_history(noted), supplier_history(fulfillment)):
        assert [entry.at for entry in history] == [*newest][::-1]
