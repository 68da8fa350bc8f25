import pytest

from orders.models import Order
from orders.services import hold
from tests.orders.fixtures import (  # noqa: F401
    OPERATOR,
    _invariants_hold,
    acme_api,
    an_order_at_acme,
    push,
    rival_api,
    shop_api,
    work,
    work_of,
)


@pytest.fixture
def hold_it():
    """Return a function that holds an order, or releases it, as an operator."""

    def change_it(order, action=hold):
        with Order.objects.get(pk=order.pk).change(by=OPERATOR) as change:
            action(change)

    return change_it
