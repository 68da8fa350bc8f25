"""The demo's market has a past in which all counters agree, and open work for today."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from backoffice.desk.kinds import KINDS
from events.models import Event
from fulfillments.models import DailySum, Return
from fulfillments.serializers import AddressJson
from imports.models import ImportJob, Status
from orders.models import Order
from orders.processing_state import ProcessingState
from orders.reconciling.reconciling import differences
from tools.demo import market
from tools.launcher.programs import demo_size

pytestmark = pytest.mark.django_db(transaction=True)

# The desk kinds that a new market shows. The kinds about imports appear after a worker has run, and the
# remaining kinds need a broken service.
SHOWN = {"address", "refused", "cancellation", "overdue", "country", "held", "backordered", "feed", "webhook"}

PARTS_OF_ADDRESS = frozenset(AddressJson.__annotations__)


def test_a_market_has_a_past_with_right_counters_and_work_for_today():
    call_command("demo_data", "--with-market", verbosity=0)
    assert list(differences()) == []
    assert Order.objects.count() > 1_500
    assert set(Order.objects.values_list("processing_state", flat=True)) == {*ProcessingState}
    oldest = Order.objects.earliest("created_at").created_at
    assert timedelta(days=58) < timezone.now() - oldest < timedelta(days=61)
    assert {kind.name for kind in KINDS if kind.rows().exists()} >= SHOWN
    addresses = Order.objects.values_list("shipping_address", "billing_address")
    assert {frozenset(address) for pair in addresses for address in pair} == {PARTS_OF_ADDRESS}
    assert DailySum.objects.filter(measure="to_ship").values("day").distinct().count() > 50
    assert Return.objects.exists()
    assert set(ImportJob.objects.values_list("status", flat=True)) == {Status.QUEUED}


def test_a_market_is_made_once_and_its_events_are_numbered_by_time():
    market.create()
    events = Event.objects.filter(order_id__isnull=False).order_by("occurred_at", "id")
    numbers = list(events.values_list("number", flat=True))
    assert None not in numbers
    assert numbers == sorted(numbers, key=lambda number: number or 0)
    before = Order.objects.count()
    market.create()
    assert Order.objects.count() == before


@pytest.mark.parametrize(
    ("setting", "size"), [("market", "market"), ("1", "market"), ("small", "small"), ("0", ""), ("off", "")]
)
def test_the_setting_chooses_the_size_of_the_demo(setting, size):
    assert demo_size(setting) == size


def test_an_unknown_size_is_refused_with_the_known_ones():
    with pytest.raises(SystemExit, match="market, small or 0"):
        demo_size("large")
