"""Texts of the portal about one unit, hour, day or row use the singular."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Partnership
from portal.buying.suppliers import terms_of
from portal.supplying.lateness import why_late
from tests.portal.test_quick_ship import preview, ship


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10)
    return pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()


@pytest.mark.parametrize(
    ("count", "hours", "days"),
    [(1, "1 hour", "1 day"), (2, "2 hours", "2 days"), (None, "no limit", "no limit")],
)
def test_the_terms_of_a_partnership_name_one_hour_and_one_day(shop, acme, count, hours, days):
    partnership = Partnership.objects.get(retailer=shop, supplier=acme)
    partnership.hours_to_ship = partnership.max_wait_days = count
    terms = dict(terms_of(partnership))

    assert (terms["Time to ship"], terms["Longest wait for stock"]) == (hours, days)


@pytest.mark.parametrize(("hours", "words"), [(1, "1 hour "), (2, "2 hours ")])
def test_the_reason_for_a_late_order_names_one_hour(work, hours, words):
    work.partnership.hours_to_accept = hours
    work.due_at = timezone.now() - timedelta(hours=1)

    assert f"gives you {words}for this step." in why_late(work)


def test_the_result_of_quick_ship_names_one_row(ana, work):
    page, _ = ship(ana, preview(ana, f"{work.pk}\t1Z1"))

    assert "1 of 1 row." in page.text
