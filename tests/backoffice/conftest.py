"""Fixtures and helpers of the admin's tests: signed-in users, an order, and functions that press buttons."""

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
    """Return a browser with a signed-in operator, who may view and change everything."""
    client = Client()
    client.force_login(StaffFactory.create(username="olga", group=OPERATORS))
    return client


@pytest.fixture
def support(db: None) -> Client:
    """Return a browser with a signed-in member of Support, who may only view."""
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
    """Create an order of Shop: two lanterns, which Acme has in stock."""
    a_variant(acme, "LAN-1", stock=10)
    return pushed(shop, {"sku": "LAN-1", "quantity": 2})


@pytest.fixture
def fulfillment(order: Order) -> Fulfillment:
    return order.fulfillments.get()


def do(client: Client, record: Any, action: str, **answers: str) -> Any:
    """Press a button on a record's page, and return the page after the redirect."""
    meta = record._meta
    path = f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/do/{action}/"
    return client.post(path, {"reason": "agreed by telephone", **answers}, follow=True)


def choose(client: Client, model: Any, action: str, subjects: Sequence[Any], **filters: str) -> Any:
    """Select rows in a list, choose an action, and return the preview page."""
    path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    sent = {"action": action, "_selected_action": [record.pk for record in subjects]}
    return client.post(path, sent, query_params=filters, follow=True)


def confirm(client: Client, page: Any, **answers: str) -> Any:
    """Confirm a preview page with the number of rows, and return the page of the action.

    If the action waits before its start, the wait is skipped.
    """
    path = page.request["PATH_INFO"]
    typed = str(page.context["counts"]["possible"])
    answer = client.post(
        f"{path}confirm/", {"reason": "agreed by telephone", "rows": typed, **answers}, follow=True
    )
    return started(client, path) or answer


def started(client: Client, path: str) -> Any:
    """Run the action of a page now if it waits for its start, and return its page. Otherwise return None."""
    waiting = OperatorAction.objects.filter(starts_at__gt=timezone.now(), finished_at=None)
    waiting = waiting.filter(pk=path.rstrip("/").rpartition("/")[2])
    if not waiting.update(starts_at=timezone.now()):
        return None
    run_operator_action(int(path.rstrip("/").rpartition("/")[2]))
    return client.get(path)


def messages(page: Any) -> list[str]:
    return [str(message) for message in page.context["messages"]]
