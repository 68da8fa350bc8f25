"""Orders in all kinds of states, so that the admin looks as it does on a working day (--with-orders)."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor, ActorKind
from accounts.models import Retailer
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import Order
from orders.pushing import push

STAGE = Actor.system("demo")

PEOPLE = (
    ("Ada", "Berg", "12 Harbour Street", "Portland", "ME", "04101"),
    ("Noor", "Haddad", "480 Alameda Ave", "Denver", "CO", "80223"),
    ("Tomás", "Ribeiro", "9 Mill Lane", "Ithaca", "NY", "14850"),
)


def make_orders() -> None:
    """Push and move the orders that are not there yet."""
    for number, scene in enumerate(SCENES):
        _make(f"SAMPLE-{1001 + number}", number, *scene)


def _make(name: str, number: int, retailer_name: str, lines: list[dict[str, Any]], *deeds: Any) -> None:
    retailer = Retailer.objects.get(name=retailer_name)
    if Order.objects.for_retailer(retailer).filter(retailer_order_id=name).exists():
        return
    order = push(retailer, _content(name, number, lines), by=STAGE).order
    for deed in deeds:
        for fulfillment in order.fulfillments.order_by("pk"):
            deed(Fulfillment.objects.select_related("order").get(pk=fulfillment.pk))


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


def _as(fulfillment: Fulfillment) -> Actor:
    """The supplier of a fulfillment, as history names it."""
    return Actor(ActorKind.SUPPLIER, f"system:demo ({fulfillment.supplier})")


def _accept(fulfillment: Fulfillment) -> None:
    fulfillment.accept(by=_as(fulfillment))


def _ship(fulfillment: Fulfillment) -> None:
    fulfillment.ship(by=_as(fulfillment), tracking_number=f"1Z{fulfillment.pk:010}", carrier="UPS")


def _wrong_address(fulfillment: Fulfillment) -> None:
    fulfillment.reject(State.WRONG_ADDRESS, by=_as(fulfillment))


def _out_of_stock(fulfillment: Fulfillment) -> None:
    fulfillment.reject(State.OUT_OF_STOCK, by=_as(fulfillment))


def _ask_back(fulfillment: Fulfillment) -> None:
    fulfillment.order.request_cancelation(
        by=Actor(ActorKind.RETAILER, f"system:demo ({fulfillment.order.retailer})"),
        reason="The customer changed her mind.",
    )


def _hold(fulfillment: Fulfillment) -> None:
    fulfillment.order.hold(by=Actor(ActorKind.OPERATOR, "system:demo"))


LANTERN = {"upc": "036000291452", "quantity": 2}
BLANKET = {"sku": "BLK-RED", "quantity": 1}
KETTLE = {"sku": "KET-1L", "quantity": 1}
STOVE = {"sku": "R-STOVE", "quantity": 1}

# Whose order, its lines, and what is done with each of its fulfillments.
SCENES: tuple[tuple[Any, ...], ...] = (
    ("Shop", [LANTERN, KETTLE]),
    ("Shop", [BLANKET, STOVE], _accept),
    ("Shop", [KETTLE], _accept, _ship),
    ("Shop", [LANTERN], _wrong_address),
    ("Shop", [BLANKET], _accept, _ask_back),
    ("Shop", [KETTLE], _hold),
    ("Boutique", [{"sku": "R-LANTERN", "quantity": 40}]),
    ("Boutique", [{"sku": "R-BLANKET-G", "quantity": 1}], _out_of_stock),
)
