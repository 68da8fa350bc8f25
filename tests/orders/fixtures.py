"""Shared fixtures for tests of orders and fulfillments. Their conftests import them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.actors import Actor, ActorKind
from accounts.models import Retailer, Supplier
from catalog.models import Variant
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.client import ApiClient
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order

ClientFor = Callable[..., ApiClient]

OPERATOR = Actor(ActorKind.OPERATOR, "user:olga")


@pytest.fixture(autouse=True)
def _invariants_hold(db: None) -> Iterator[None]:
    """Check after every test that all counters agree with their sources."""
    yield
    assert violations() == []


@pytest.fixture
def shop_api(shop: Retailer, client_for: ClientFor) -> ApiClient:
    return client_for(shop)


@pytest.fixture
def acme_api(acme: Supplier, client_for: ClientFor) -> ApiClient:
    return client_for(acme)


@pytest.fixture
def rival_api(rival: Supplier, client_for: ClientFor) -> ApiClient:
    return client_for(rival)


@pytest.fixture
def push(shop_api: ApiClient) -> Callable[..., Order]:
    """Return a function that pushes an order with these lines as Shop, and returns the order."""

    def push_order(*lines: dict[str, Any], **fields: Any) -> Order:
        answer = shop_api.post("orders", an_order(*lines, **fields))
        assert answer.status_code == 201, answer.content
        return Order.objects.get(pk=answer.json()["order_id"])

    return push_order


@pytest.fixture
def work_of() -> Callable[[Order, Supplier], Fulfillment]:
    """Return a function that finds a supplier's fulfillment of an order."""

    def find(order: Order, supplier: Supplier) -> Fulfillment:
        return Fulfillment.objects.select_related("order").get(order=order, supplier=supplier)

    return find


@pytest.fixture
def an_order_at_acme(acme: Supplier, a_variant: Callable[..., Variant], push: Callable[..., Order]) -> Order:
    """Push an order of three lamps and two mats, which only Acme has in stock."""
    a_variant(acme, "LAMP", stock=10, wholesale_price="10")
    a_variant(acme, "MAT", stock=10, wholesale_price="5")
    return push({"sku": "LAMP", "quantity": 3}, {"sku": "MAT", "quantity": 2})


@pytest.fixture
def work(
    an_order_at_acme: Order, acme: Supplier, work_of: Callable[[Order, Supplier], Fulfillment]
) -> Fulfillment:
    """Return Acme's fulfillment of `an_order_at_acme`, in the state new."""
    return work_of(an_order_at_acme, acme)


def status(work: Fulfillment, value: str = "") -> str:
    """Return the path that sets a fulfillment's status."""
    return f"fulfillments/{work.pk}/setStatus/{value}".rstrip("/")


def line_units(work: Fulfillment, sku: str, quantity: int) -> dict[str, int]:
    """Return a quantity of a sku in the form of the `lines` of a parcel."""
    return {"id": work.lines.get(variant__sku=sku).pk, "quantity": quantity}


def state_of(work: Fulfillment) -> str:
    return Fulfillment.objects.values_list("state", flat=True).get(pk=work.pk)


def order_state(order: Order) -> str:
    return Order.objects.values_list("processing_state", flat=True).get(pk=order.pk)
