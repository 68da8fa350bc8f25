from __future__ import annotations

import factory

from orders.models import Order, OrderLine
from tests.factories.accounts import RetailerFactory
from tests.factories.base import ModelFactory


class OrderFactory(ModelFactory[Order]):
    """An order row without a push. Tests of a push use the API instead."""

    class Meta:
        model = Order

    retailer = factory.SubFactory(RetailerFactory)
    retailer_order_id = factory.Sequence(lambda n: f"R-{n}")
    content_digest = ""


class OrderLineFactory(ModelFactory[OrderLine]):
    class Meta:
        model = OrderLine

    order = factory.SubFactory(OrderFactory)
    position = 0
    sku = "A-1"
    quantity = 1
    open = factory.SelfAttribute("quantity")
