"""An action whose record was changed after the form was opened does nothing, and shows a message."""

from __future__ import annotations

import html
import re
from functools import partial

import pytest

from accounts.operating.operator_actions import STALE
from fulfillments.models import Fulfillment
from tests.backoffice.conftest import operator  # noqa: F401
from tests.portal.conftest import act, said

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def opened(client, path):
    """Return the hidden fields of an action's form, as the browser would send them."""
    page = client.get(path)
    assert page.status_code == 200
    return {name: html.unescape(value) for name, value in HIDDEN.findall(page.text)}


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    """Push an order of two lamps and three hats, as Shop. Return Acme's fulfillment."""
    a_variant(acme, "LAMP", stock=10)
    a_variant(acme, "HAT", stock=10)
    lines = {"sku": "LAMP", "quantity": 2}, {"sku": "HAT", "quantity": 3}
    return pushed(shop, *lines).fulfillments.get()


@pytest.fixture
def path(work, ana):
    path = f"/portal/orders/{work.pk}/do/"
    act(ana, f"{path}accept/")
    return path


def units(work, **by_sku):
    return {f"line_{line.pk}": by_sku[line.sku] for line in work.lines.all() if line.sku in by_sku}


def test_an_approval_cancels_only_the_units_that_its_page_named(ana, client_for, shop, work, path):
    cancel = partial(client_for(shop).post, f"orders/{work.order_id}/cancel")
    assert cancel({"lines": [{"sku": "LAMP", "quantity": 1}]}).status_code == 200
    sent = opened(ana, f"{path}approve-cancelation/")
    assert cancel({"lines": [{"sku": "HAT", "quantity": 3}]}).status_code == 200

    page = ana.post(f"{path}approve-cancelation/", sent)

    assert said(page) == [STALE]
    assert "You will not ship 1 × LAMP, 3 × HAT." in page.text
    assert Fulfillment.objects.get(pk=work.pk).state == "canceling"
    ana.post(f"{path}approve-cancelation/", opened(ana, f"{path}approve-cancelation/"))
    assert sum(line.canceled for line in work.lines.all()) == 4


def test_a_parcel_of_units_that_a_colleague_shipped_is_not_recorded_in_part(ana, work, path):
    sent = opened(ana, f"{path}ship/")
    act(ana, f"{path}ship/", tracking_number="1Z1", **units(work, LAMP=2, HAT=0))

    page = ana.post(f"{path}ship/", {**sent, "tracking_number": "1Z2", **units(work, LAMP=2, HAT=3)})

    assert "A line was changed while the page was open." in page.text
    assert [parcel.tracking_number for parcel in work.shipments.all()] == ["1Z1"]


def test_the_return_that_a_colleague_recorded_meanwhile_is_not_recorded_twice(ana, work, path):
    act(ana, f"{path}ship/", tracking_number="1Z1", **units(work, LAMP=2, HAT=3))
    answers = {"reason": "broken", **units(work, LAMP=0, HAT=1)}
    sent = opened(ana, f"{path}return/")
    act(ana, f"{path}return/", **answers)

    page = ana.post(f"{path}return/", {**sent, **answers})

    assert said(page) == [STALE]
    assert "4 units are shipped and not returned." in page.text
    assert work.lines.get(sku="HAT").returned == 1


def test_units_that_a_colleague_canceled_meanwhile_are_not_canceled_twice(sam, work):
    path = f"/portal/purchases/{work.order_id}/do/cancel-units/"
    answers = {f"line_{line.pk}": int(line.sku == "HAT") for line in work.order.lines.all()}
    sent = opened(sam, path)
    act(sam, path, **answers)

    page = sam.post(path, {**sent, **answers})

    assert said(page) == [STALE]
    assert "4 units can be canceled." in page.text
    assert work.lines.get(sku="HAT").cancel_requested == 1


def test_a_correction_does_not_replace_the_correction_of_a_colleague(ana, work, path):
    act(ana, f"{path}ship/", tracking_number="1Z1", **units(work, LAMP=2, HAT=3))
    parcel = work.shipments.get()
    correct = f"/portal/orders/parcels/{parcel.pk}/do/correct/"
    sent = opened(ana, correct)
    act(ana, correct, tracking_number="1Z2")

    page = ana.post(correct, {**sent, "tracking_number": "1Z3"})

    assert said(page) == [STALE]
    parcel.refresh_from_db()
    assert parcel.tracking_number == "1Z2"


def test_an_operators_form_is_stale_after_a_move_of_the_supplier(ana, operator, work, path):  # noqa: F811
    ship = f"/admin/fulfillments/fulfillment/{work.pk}/do/ship/"
    sent = opened(operator, ship)
    act(ana, f"{path}ship/", tracking_number="1Z1", **units(work, LAMP=1, HAT=0))

    page = operator.post(ship, {**sent, "tracking_number": "1Z2"})

    assert said(page) == [STALE]
    assert work.shipments.count() == 1
