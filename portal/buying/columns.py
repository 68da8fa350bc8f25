"""The columns of a retailer's list of orders."""

from __future__ import annotations

from operator import attrgetter

from orders.models import Order
from portal.late import is_late
from portal.list_pages import MOMENT, ListColumn

CELLS = "portal/buying/cells"


def _customer(order: Order) -> str:
    address = order.shipping_address
    name = f"{address.get('first_name') or ''} {address.get('last_name') or ''}".strip()
    return name or str(address.get("company_name") or "")


def _ship_to(order: Order) -> str:
    address = order.shipping_address
    return ", ".join(str(text) for part in ("city", "country") if (text := address.get(part)))


def _items(order: Order) -> list[str]:
    return [f"{line.quantity} × {line.title or line.name}" for line in order.lines.all()]


def _parcels(order: Order) -> list[str]:
    parcels = (parcel for part in order.fulfillments.all() for parcel in part.shipments.all())
    return [f"{parcel.carrier} {parcel.tracking_number}".strip() for parcel in parcels]


def _suppliers(order: Order) -> list[str]:
    return sorted({part.supplier.name for part in order.fulfillments.all()})


def _states(order: Order) -> list[str]:
    """Return the state, and *overdue* and *held* if they apply."""
    late = any(is_late(part) for part in order.fulfillments.all())
    more = (("overdue", late), ("held", order.held))
    return [order.processing_state, *(name for name, is_true in more if is_true)]


ORDER_COLUMNS = (
    ListColumn("number", "Order", attrgetter("retailer_order_id"), f"{CELLS}/number.html"),
    ListColumn("items", "Items", _items, f"{CELLS}/items.html"),
    ListColumn("customer", "Customer", _customer, f"{CELLS}/name.html"),
    ListColumn("ship_to", "Ship to", _ship_to, f"{CELLS}/name.html"),
    ListColumn("parcels", "Parcels", _parcels, f"{CELLS}/parcels.html"),
    ListColumn("state", "State", _states, f"{CELLS}/states.html"),
    ListColumn("suppliers", "Suppliers", _suppliers, f"{CELLS}/list.html", is_usual=False),
    ListColumn("ordered", "Ordered", attrgetter("created_at"), MOMENT, is_usual=False),
    ListColumn("changed", "Changed", attrgetter("updated_at"), MOMENT, is_usual=False),
    ListColumn("ship_until", "Ship until", attrgetter("ship_until"), is_usual=False),
    ListColumn("service", "Service", attrgetter("shipping_method_code"), is_usual=False),
    ListColumn("id", "Order ID", attrgetter("pk"), is_number=True, is_usual=False),
)
USUAL = tuple(column for column in ORDER_COLUMNS if column.is_usual)
