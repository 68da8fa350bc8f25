"""Signed-in operators and support staff, and orders for their pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import OperatorAction, Retailer
from accounts.tasks import run_operator_action
from backoffice.groups import OPERATORS, SUPPORT
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.factories import StaffFactory
from tests.orders.push_bodies import an_order


@pytest.fixture
def operator(db: None) -> Client:
    """A signed-in operator, who may view and change everything."""
    client = Client()
    client.force_login(StaffFactory.create(username="olga", group=OPERATORS))
    return client


@pytest.fixture
def support(db: None) -> Client:
    """A signed-in member of Support, who may only view."""
    client = Client()
    client.force_login(StaffFactory.create(username="sam", group=SUPPORT))
    return client


@pytest.fixture
def pushed(client_for: Any) -> Callable[..., Order]:
    """Return a function that pushes an order as a retailer."""

    def push(retailer: Retailer, *lines: dict[str, Any], **fields: Any) -> Order:
        answer = client_for(retailer).post("orders", an_order(*lines, **fields))
        assert answer.status_code == 201, answer.content
        found: Order = Order.objects.get(pk=answer.json()["order_id"])
        return found

    return push


@pytest.fixture
def order(acme: Any, shop: Retailer, a_variant: Any, pushed: Callable[..., Order]) -> Order:
    """Two lanterns for Shop, from Acme."""
    a_variant(acme, "LAN-1", stock=10)
    return pushed(shop, {"sku": "LAN-1", "quantity": 2})


@pytest.fixture
def fulfillment(order: Order) -> Fulfillment:
    return order.fulfillments.get()


def do(client: Client, record: Any, action: str, **answers: str) -> Any:
    """Press a button on a record's page, and follow to the page that it leads to."""
    meta = record._meta
    path = f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/do/{action}/"
    return client.post(path, {"reason": "agreed by telephone", **answers}, follow=True)


def choose(client: Client, model: Any, action: str, subjects: Sequence[Any], **filters: str) -> Any:
    """Select rows in a list and choose an action; return its preview page."""
    path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    sent = {"action": action, "_selected_action": [record.pk for record in subjects]}
    return client.post(path, sent, query_params=filters, follow=True)


def confirm(client: Client, page: Any, **answers: str) -> Any:
    """Confirm a preview page, with the typed number of rows. Wait until the action may start, and show it."""
    path = page.request["PATH_INFO"]
    typed = str(page.context["counts"]["possible"])
    answer = client.post(
        f"{path}confirm/", {"reason": "agreed by telephone", "rows": typed, **answers}, follow=True
    )
    return started(client, path) or answer


def started(client: Client, path: str) -> Any:
    """Let the action of a page that waits for its start begin now; return its page, or None."""
    waiting = OperatorAction.objects.filter(starts_at__gt=timezone.now(), finished_at=None)
    waiting = waiting.filter(pk=path.rstrip("/").rpartition("/")[2])
    if not waiting.update(starts_at=timezone.now()):
        return None
    run_operator_action(int(path.rstrip("/").rpartition("/")[2]))
    return client.get(path)


def messages(page: Any) -> list[str]:
    return [str(message) for message in page.context["messages"]]
