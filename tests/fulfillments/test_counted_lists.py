"""The list behind a number of a scorecard has the fulfillments that the number counts."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from accounts.scopes import Role
from events.models import Event
from fulfillments.admin.filters import Counted
from fulfillments.models import Fulfillment
from fulfillments.scorecard.performance import Days, performances
from fulfillments.scorecard.sums import add_up
from tests.orders.fixtures import status


def test_one_more_parcel_after_the_last_one_makes_no_order_late(
    acme, shop, a_variant, push, work_of, acme_api
):
    a_variant(acme, "LAMP", stock=10)
    work = work_of(push({"sku": "LAMP", "quantity": 3}), acme)
    acme_api.put(status(work, "accepted"))
    for number in ("T-1", "T-2"):
        acme_api.put(status(work, "shipped"), {"tracking_number": number})
    begin = timezone.now() - timedelta(days=10)
    Fulfillment.objects.update(created_at=begin)
    first = Event.objects.filter(type="fulfillment.shipped").earliest("pk")
    Event.objects.filter(pk__lte=first.pk).update(occurred_at=begin + timedelta(hours=1))
    Event.publish()
    add_up(seconds=60)

    days = Days(30)
    counts = performances(Role.SUPPLIER, days)[acme.pk].now
    listed = {
        name: Counted(name, days.first, days.last, acme.pk, shop.pk).fulfillments(Fulfillment.objects.all())
        for name in ("late", "shipped")
    }
    assert (counts.late, counts.shipped) == (0, 1)
    assert {name: rows.count() for name, rows in listed.items()} == {"late": 0, "shipped": 1}
