"""The open work of the demo's market, created by the same functions that the API calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from accounts.actors import Actor, ActorKind
from accounts.models import Retailer, Supplier
from events.models import Webhook
from fulfillments.models import Fulfillment
from fulfillments.states import State
from inventory.models import StockLevel, Warehouse
from orders.canceling import request_cancelation
from orders.models import Order
from orders.pushing import push
from orders.services import hold
from tools.demo.market import cast

SILENT = "Lumen Lighting"
"""The supplier that has sent no stock counts for four days."""
DOWN = "https://hooks.hearth-and-field.example/exchange"
PRICES = {sku: Decimal(price) for supplier in cast.SUPPLIERS for sku, _, price in supplier.goods}

Act = Callable[[Order], None]


def create() -> None:
    """Create orders with problems of each kind, a supplier without counts, and a failing webhook."""
    for number, (retailer, sku, quantity, act, changes) in enumerate(PROBLEMS):
        _make(number, Retailer.objects.get(name=retailer), sku, quantity, act, changes)
    _fall_silent()
    _break_webhook()


def _make(
    number: int, retailer: Retailer, sku: str, quantity: int, act: Act | None, changes: dict[str, Any]
) -> None:
    city, state, zip_code = cast.CITIES[number % len(cast.CITIES)]
    address = {
        "first_name": cast.FIRST_NAMES[number],
        "last_name": cast.LAST_NAMES[number],
        "company_name": "",
        "address1": f"{14 + 7 * number} {cast.STREETS[number % len(cast.STREETS)]}",
        "address2": "",
        "city": city,
        "state": state,
        "zip_code": zip_code,
        "country": "US",
        "email": f"{cast.FIRST_NAMES[number]}@example.com".lower(),
        "phone_number": f"+1 202 555 01{number:02}",
    }
    prefix = dict(cast.RETAILERS)[retailer.name]
    content = {
        "retailer_order_id": f"{prefix}-{101_601 + number}",
        "shipping_address": address | changes.get("address", {}),
        "billing_address": address,
        "shipping_method_code": "GROUND",
        "order_lines": [{"sku": sku, "quantity": quantity, "billed_amount": PRICES[sku] * quantity}],
        **{name: value for name, value in changes.items() if name != "address"},
    }
    order = push(retailer, content, by=_party(ActorKind.RETAILER, retailer)).order
    if act:
        act(order)


def _party(kind: ActorKind, party: Retailer | Supplier) -> Actor:
    return Actor(kind, f"system:demo ({party})")


def _rejecting(reason: State) -> Act:
    """Return a function in which each supplier in turn rejects the order for this reason."""

    def act(order: Order) -> None:
        while work := order.fulfillments.filter(state=State.NEW).select_related("order").first():
            with work.order.change(by=_party(ActorKind.SUPPLIER, work.supplier)) as change:
                work.reject(change, reason)

    return act


def _accept(order: Order) -> None:
    for work in Fulfillment.objects.filter(order=order).select_related("order"):
        with work.order.change(by=_party(ActorKind.SUPPLIER, work.supplier)) as change:
            work.accept(change)


def _ask_back(order: Order) -> None:
    _accept(order)
    with order.change(by=_party(ActorKind.RETAILER, order.retailer)) as change:
        request_cancelation(change, reason="The customer found it cheaper elsewhere.")


def _hold(order: Order) -> None:
    with order.change(
        by=Actor(ActorKind.OPERATOR, "system:demo", reason="The payment looks doubtful.")
    ) as change:
        hold(change)


def _fall_silent() -> None:
    """Set the times of the last counts: four days ago for SILENT, three hours ago for other suppliers."""
    lately = timezone.now() - timedelta(hours=3)
    never_heard = Warehouse.objects.filter(heard_at__isnull=True)
    StockLevel.objects.filter(warehouse__in=never_heard).update(counted_at=lately)
    never_heard.update(heard_at=lately)
    silent = timezone.now() - timedelta(days=4)
    Warehouse.objects.filter(supplier__name=SILENT).update(heard_at=silent)
    StockLevel.objects.filter(warehouse__supplier__name=SILENT).update(counted_at=silent)


def _break_webhook() -> None:
    now = timezone.now()
    webhook = Webhook(
        retailer=Retailer.objects.get(name=cast.RETAILERS[0][0]),
        url=DOWN,
        areas=["orders", "fulfillments"],
        after=0,
        failing_since=now - timedelta(hours=3),
        failed_at=now,
        last_error="The receiver's name is unknown.",
    )
    webhook.make_secret()
    webhook.save()


HEARTH, CORNER = (name for name, _ in cast.RETAILERS)
WRONG_STREET = {"address": {"address1": "Main Street, house with the red door", "zip_code": "99999"}}
ABROAD = {"address": {"country": "Atlantis", "state": "", "zip_code": "1"}}

# For each order: the retailer, the sku, the units, a function for its later moves, and its special fields.
PROBLEMS: tuple[tuple[str, str, int, Act | None, dict[str, Any]], ...] = (
    (HEARTH, "NH-1001", 2, _rejecting(State.WRONG_ADDRESS), WRONG_STREET),
    (CORNER, "BB-MUG-01", 4, _rejecting(State.WRONG_ADDRESS), WRONG_STREET),
    (HEARTH, "LL-F220", 1, _rejecting(State.OUT_OF_STOCK), {}),
    (HEARTH, "HK-420", 2, _rejecting(State.OUT_OF_STOCK), {}),
    (CORNER, "LF-KIT-02", 1, _rejecting(State.MISSING_SKU), {}),
    (HEARTH, "AO-TNT-2", 1, _ask_back, {}),
    (CORNER, "NH-1031", 2, _ask_back, {}),
    (HEARTH, "AO-JKT-M", 1, _hold, {"is_gift": True, "gift_message": "Happy birthday, Maya!"}),
    (CORNER, "HK-200", 1, None, ABROAD),
    (HEARTH, "BB-VAS-01", 150, None, {"when_short": "wait"}),
    (CORNER, "LF-TRN-01", 160, None, {"when_short": "wait"}),
)
