"""Sample orders in many states, so that the pages of the admin show data (--with-orders)."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor, ActorKind
from accounts.models import Retailer
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.canceling import request_cancelation
from orders.models import Order
from orders.pushing import push
from orders.services import hold

DEMO = Actor.system("demo")

PEOPLE = (
    ("Ada", "Berg", "12 Harbour Street", "Portland", "ME", "04101"),
    ("Noor", "Haddad", "480 Alameda Ave", "Denver", "CO", "80223"),
    ("Tomás", "Ribeiro", "9 Mill Lane", "Ithaca", "NY", "14850"),
)


def make_orders() -> None:
    """Create the sample orders that do not exist yet."""
    for number, sample in enumerate(SAMPLES):
        _make(f"SAMPLE-{1001 + number}", number, *sample)


def _make(name: str, number: int, retailer_name: str, lines: list[dict[str, Any]], *moves: Any) -> None:
    retailer = Retailer.objects.get(name=retailer_name)
    if Order.objects.for_retailer(retailer).filter(retailer_order_id=name).exists():
        return
    order = push(retailer, _content(name, number, lines), by=DEMO).order
    for move in moves:
        for fulfillment in order.fulfillments.order_by("pk"):
            move(Fulfillment.objects.select_related("order").get(pk=fulfillment.pk))


def _content(name: str, number: int, lines: list[dict[str, Any]]) -> dict[str, Any]:
    first, last, street, city, state, code = PEOPLE[number % len(PEOPLE)]
    address = {
        "first_name": first,
        "last_name": last,
        "address1": street,
        "city": city,
        "state": state,
        "zip_code": code,
        "country": "US",
    }
    return {
        "retailer_order_id": name,
        "shipping_address": address,
        "billing_address": address,
        "shipping_method_code": "GROUND",
        "order_lines": lines,
    }


def _supplier_of(fulfillment: Fulfillment) -> Actor:
    """Return the actor for the supplier of a fulfillment."""
    return Actor(ActorKind.SUPPLIER, f"system:demo ({fulfillment.supplier})")


def _accept(fulfillment: Fulfillment) -> None:
    with fulfillment.order.change(by=_supplier_of(fulfillment)) as change:
        fulfillment.accept(change)


def _ship(fulfillment: Fulfillment) -> None:
    with fulfillment.order.change(by=_supplier_of(fulfillment)) as change:
        fulfillment.ship(change, tracking_number=f"1Z{fulfillment.pk:010}", carrier="UPS")


def _wrong_address(fulfillment: Fulfillment) -> None:
    with fulfillment.order.change(by=_supplier_of(fulfillment)) as change:
        fulfillment.reject(change, State.WRONG_ADDRESS)


def _out_of_stock(fulfillment: Fulfillment) -> None:
    with fulfillment.order.change(by=_supplier_of(fulfillment)) as change:
        fulfillment.reject(change, State.OUT_OF_STOCK)


def _ask_back(fulfillment: Fulfillment) -> None:
    retailer = Actor(ActorKind.RETAILER, f"system:demo ({fulfillment.order.retailer})")
    with fulfillment.order.change(by=retailer) as change:
        request_cancelation(change, reason="The customer changed their mind.")


def _hold(fulfillment: Fulfillment) -> None:
    with fulfillment.order.change(by=Actor(ActorKind.OPERATOR, "system:demo")) as change:
        hold(change)


LANTERN = {"upc": "036000291452", "quantity": 2}
BLANKET = {"sku": "BLK-RED", "quantity": 1}
KETTLE = {"sku": "KET-1L", "quantity": 1}
STOVE = {"sku": "R-STOVE", "quantity": 1}

# For each order: the retailer, the lines, and the moves of each of its fulfillments.
SAMPLES: tuple[tuple[Any, ...], ...] = (
    ("Shop", [LANTERN, KETTLE]),
    ("Shop", [BLANKET, STOVE], _accept),
    ("Shop", [KETTLE], _accept, _ship),
    ("Shop", [LANTERN], _wrong_address),
    ("Shop", [BLANKET], _accept, _ask_back),
    ("Shop", [KETTLE], _hold),
    ("Boutique", [{"sku": "R-LANTERN", "quantity": 40}]),
    ("Boutique", [{"sku": "R-BLANKET-G", "quantity": 1}], _out_of_stock),
)
