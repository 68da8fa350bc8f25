"""The texts of order actions count in the singular and the plural, and addresses the limits of a push."""

import pytest

from orders.admin.address_form import PARTS, PUSHED
from tests.backoffice.conftest import do, messages


@pytest.fixture
def refused(acme, shop, a_variant, pushed, client_for):
    """Create an order with one unit that its only supplier refused."""
    a_variant(acme, "LAN-1", stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 1})
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/out_of_stock")
    return order


def effect(client, order, action):
    return client.get(f"/admin/orders/order/{order.pk}/do/{action}/").context["effect"]


def test_one_refused_unit_is_named_in_the_singular(operator, refused):
    assert effect(operator, refused, "drop-refused") == "1 refused unit is canceled; the rest goes on."
    assert effect(operator, refused, "route-again") == "The service looks for a supplier of 1 refused unit."
    page = do(operator, refused, "drop-refused")
    [message] = messages(page)
    assert message.startswith("1 refused unit is canceled; order ")


def test_one_fulfillment_that_waits_for_its_address_is_named_in_the_singular(
    operator, order, fulfillment, client_for, acme
):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    expected = "1 fulfillment that waits for the right address goes back to Acme."
    assert effect(operator, order, "correct-address") == expected


@pytest.mark.parametrize("part", PARTS)
def test_a_corrected_address_has_the_limits_of_a_pushed_address(operator, order, part):
    limit = PUSHED[part].max_length
    address = {**order.shipping_address, part: "x" * (limit + 1)}

    form = do(operator, order, "correct-address", **address).context["form"]

    assert list(form.errors) == [part]
    assert f"at most {limit} characters" in form.errors[part][0]
    order.refresh_from_db()
    assert order.shipping_address[part] != address[part]
