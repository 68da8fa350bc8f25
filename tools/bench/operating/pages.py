"""The pages that operators open. Each shows rows that exist in markets of every size."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from backoffice.navigation.counting import count_waiting

TICK = "the task that counts open work for the menu"

PAGES = {
    "the menu's counts of open work": TICK,
    "home": "/admin/",
    "the desk": "/admin/desk/",
    "the desk, its next page": "/admin/desk/ next",
    "the desk of one supplier": "/admin/desk/?supplier=1",
    "the desk of one supplier and kind": "/admin/desk/?supplier=1&kind=overdue",
    "the desk of one kind": "/admin/desk/?kind=backordered",
    "the desk, older than a day": "/admin/desk/?hours=24",
    "the desk, unassigned": "/admin/desk/?taken=free",
    "orders": "/admin/orders/order/",
    "orders, their last page": "/admin/orders/order/?p=40",
    "orders in exception": "/admin/orders/order/?processing_state__exact=exception",
    "orders completed": "/admin/orders/order/?processing_state__exact=completed",
    "orders held": "/admin/orders/order/?held=1",
    "orders of a retailer": "/admin/orders/order/?retailer__id__exact=1",
    "orders of a retailer, completed": (
        "/admin/orders/order/?retailer__id__exact=1&processing_state__exact=completed"
    ),
    "orders of a day": "/admin/orders/order/?created_at_from=2024-01-01&created_at_to=2024-01-01",
    "orders by number": "/admin/orders/order/?q=PO-000000077",
    "orders, sorted by an address": "/admin/orders/order/?o=5",
    "fulfillments": "/admin/fulfillments/fulfillment/",
    "fulfillments overdue": "/admin/fulfillments/fulfillment/?overdue=1",
    "fulfillments of a supplier": "/admin/fulfillments/fulfillment/?supplier__id__exact=1",
    "fulfillments shipped": "/admin/fulfillments/fulfillment/?state__exact=shipped",
    "fulfillments, wrong address": "/admin/fulfillments/fulfillment/?state__exact=wrong_address",
    "waiting lines": "/admin/orders/orderline/?waiting=1",
    "lines": "/admin/orders/orderline/",
    "variants": "/admin/catalog/variant/",
    "variants of a supplier": "/admin/catalog/variant/?supplier__id__exact=1",
    "stock": "/admin/inventory/stocklevel/",
    "stock over-promised": "/admin/inventory/stocklevel/?overpromised=yes",
    "movements of stock": "/admin/inventory/stockmovement/",
    "imports": "/admin/imports/importjob/",
    "imports awaiting approval": "/admin/imports/importjob/?status__exact=awaiting_approval",
    "imports of a supplier": "/admin/imports/importjob/?supplier__id__exact=1",
    "uploads": "/admin/sftp_ingest/upload/",
    "events": "/admin/events/event/",
    "events of a retailer": "/admin/events/event/?retailer__id__exact=1",
    "events of a day": "/admin/events/event/?occurred_at_from=2024-01-01&occurred_at_to=2024-01-01",
    "deliveries": "/admin/events/delivery/",
    "webhooks": "/admin/events/webhook/",
    "search: a whole number": "/admin/search/?q=PO-000000077",
    "search: a number's beginning": "/admin/search/?q=PO-0000",
    "search: a name": "/admin/search/?q=lovelace",
    "search: a sku's beginning": "/admin/search/?q=S1-00",
    "search: a parcel's beginning": "/admin/search/?q=1Z00",
    "search: a file's beginning": "/admin/search/?q=stock-1",
    "search: a letter": "/admin/search/?q=a",
    "an order": "/admin/orders/order/5000/change/",
    "an order that waits": "/admin/orders/order/7/change/",
    "a fulfillment": "/admin/fulfillments/fulfillment/5000/change/",
    "a fulfillment that is overdue": "/admin/fulfillments/fulfillment/3/change/",
    "a variant": "/admin/catalog/variant/7/change/",
    "a stock row": "/admin/inventory/stocklevel/7/change/",
    "an import": "/admin/imports/importjob/10/change/",
    "a webhook": "/admin/events/webhook/4/change/",
    "a supplier": "/admin/accounts/supplier/1/overview/",
    "a supplier's form": "/admin/accounts/supplier/1/change/",
    "a supplier's scorecard": "/admin/accounts/supplier/1/scorecard/",
    "the preview of suspending a supplier": "/admin/accounts/supplier/1/suspend/",
    "a retailer": "/admin/accounts/retailer/1/overview/",
    "the preview of suspending a retailer": "/admin/accounts/retailer/1/suspend/",
    "the activity log": "/admin/activity/",
    "the activity log: one person": "/admin/activity/?person=operator1",
    "the activity log: one day": "/admin/activity/?since=2024-01-01&until=2024-01-01",
    "the activity log: one order": "/admin/activity/?about=5000",
    "the status page": "/admin/status/",
}


def address(client: Client, path: str) -> str:
    """Return the address of a page, or of its next page if the path ends in ` next`."""
    if not path.endswith(" next"):
        return path
    first = path.removesuffix(" next")
    link = re.search(r'href="\?([^"]*start=[\w-]+)"', client.get(first).content.decode())
    return f"{first}?{link[1]}" if link else first


def operator() -> Client:
    """Sign in an operator with all permissions, and return their client."""
    logging.getLogger("exchange.request").setLevel(logging.WARNING)
    user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    settings.SECOND_FACTOR = "groups"  # the bench's operator has no second factor
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    return client


def ask(client: Client, path: str) -> None:
    """Request a page. It must exist, or redirect to the record of a search."""
    if path == TICK:
        count_waiting()
        return
    response = client.get(path)
    for _ in getattr(response, "streaming_content", ()):
        pass
    assert response.status_code in (200, 302), f"{path} answers {response.status_code}"


def statements(client: Client, path: str) -> int:
    """Return the number of statements of a page."""
    sent = 0

    def count(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        nonlocal sent
        sent += "SAVEPOINT" not in str(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        ask(client, path)
    return sent


def over(name: str) -> BaseDatabaseWrapper:
    """Return a connection to another database of the same server."""
    other = connection.copy()
    other.settings_dict["NAME"] = name
    return other


@contextmanager
def on(other: BaseDatabaseWrapper) -> Iterator[None]:
    """Make Django's models use this connection."""
    before = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = other
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = before
