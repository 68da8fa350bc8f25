"""A form of an order with too many lines for fields concerns all units, and asks for a confirmation."""

from __future__ import annotations

import pytest

from fulfillments.states import State
from tests.portal.conftest import act


@pytest.fixture
def work(acme, shop, a_variant, pushed, monkeypatch):
    monkeypatch.setattr("fulfillments.admin.unit_forms.MOST_LINES", 1)
    for sku in ("LAMP", "CHAIR"):
        a_variant(acme, sku, stock=9)
    return pushed(shop, {"sku": "LAMP", "quantity": 2}, {"sku": "CHAIR", "quantity": 3}).fulfillments.get()


def units(work, name):
    return sum(work.lines.values_list(name, flat=True))


@pytest.fixture
def shipped(ana, work):
    act(ana, f"/portal/orders/{work.pk}/do/ship/", tracking_number="1Z1", all_units="on")
    assert units(work, "shipped") == 5
    return work


def test_a_return_of_all_units_needs_a_confirmation(ana, shipped):
    path = f"/portal/orders/{shipped.pk}/do/return/"
    page = act(ana, path, reason="One is broken")
    assert "Confirm that you mean all units of all lines." in page.text
    assert "All units of 2 lines" in page.text
    assert units(shipped, "returned") == 0

    act(ana, path, reason="All are broken", all_units="on")
    assert units(shipped, "returned") == 5


def test_an_operator_confirms_a_return_of_all_units(operator, shipped):
    path = f"/admin/fulfillments/fulfillment/{shipped.pk}/do/return/"
    act(operator, path, reason="One is broken")
    assert units(shipped, "returned") == 0
    act(operator, path, reason="All are broken", all_units="on")
    assert units(shipped, "returned") == 5


@pytest.mark.parametrize("action", ["reject-out-of-stock", "reject-wrong-address", "ship"])
def test_a_parcel_or_a_rejection_of_all_units_needs_a_confirmation(ana, work, action):
    path = f"/portal/orders/{work.pk}/do/{action}/"
    act(ana, path, tracking_number="1Z1")
    work.refresh_from_db()
    assert work.state == State.NEW

    act(ana, path, tracking_number="1Z1", all_units="on")
    work.refresh_from_db()
    assert work.state != State.NEW
