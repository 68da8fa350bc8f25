"""A fulfillment's `updated_at` moves with each change that its answer shows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from api.renderers import iso
from tests.orders.fixtures import status


@pytest.fixture
def moved(work, acme_api):
    """Return a function that calls a change, and returns whether `updated_at` moved."""

    def seen():
        return acme_api.get(f"fulfillments/{work.pk}").json()["updated_at"]

    def call(change):
        before = seen()
        answer = change()
        assert answer.status_code in (200, 201), answer.content
        return seen() > before

    return call


@pytest.mark.parametrize("restock", [True, False])
def test_it_moves_with_a_return(work, acme_api, moved, restock):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    lines = [{"sku": "LAMP", "quantity": 1, "restock": restock}]

    assert moved(
        lambda: acme_api.post(f"fulfillments/{work.pk}/returns", {"reason": "broken", "return_lines": lines})
    )


def test_it_moves_with_a_parcel_that_is_kept(work, an_order_at_acme, acme_api, moved, hold_it):
    left = iso(timezone.now() - timedelta(hours=1))
    hold_it(an_order_at_acme)

    assert moved(
        lambda: acme_api.put(status(work, "shipped"), {"tracking_number": "T-1", "shipped_at": left})
    )
