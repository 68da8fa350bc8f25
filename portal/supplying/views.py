"""A supplier's pages of orders. The portal calls a supplier's fulfillment an order."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet, prefetch_related_objects
from django.urls import reverse

from accounts.member_roles import Right
from fulfillments.item_names import ITEMIZED, itemize
from fulfillments.models import Fulfillment
from portal.acting import PortalActionPage
from portal.late import is_late
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage
from portal.supplying.actions import ACTIONS, requested_units
from portal.supplying.lateness import why_late
from portal.supplying.selectors import (
    fulfillments_of,
    supplier_history,
)


class SupplierOrderPage(PortalRecordPage):
    """One order of a supplier: address, lines, parcels, history, and the moves that are possible now."""

    template = "portal/supplying/order.html"
    section = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    record: Fulfillment

    def of_party(self) -> QuerySet[Any]:
        return fulfillments_of(self.supplier)

    def context(self) -> dict[str, object]:
        fulfillment = self.record
        prefetch_related_objects([fulfillment], *ITEMIZED)
        possible = [action for action in ACTIONS if action.is_possible(fulfillment)]
        return {
            "title": f"Order {fulfillment.order.retailer_order_id}",
            "fulfillment": fulfillment,
            "order": fulfillment.order,
            "is_late": is_late(fulfillment),
            "why_late": why_late(fulfillment) if is_late(fulfillment) else "",
            "lines": fulfillment.lines.all(),
            **{name: list(itemize([fulfillment], name)) for name in ITEMIZED},
            "requested": requested_units(fulfillment),
            "may_correct": self.may_change,
            "entries": supplier_history(fulfillment),
            "possible": possible if self.may_change else [],
        }


class SupplierOrderActionPage(PortalActionPage):
    """The page of an action on a supplier's order."""

    section = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    actions = ACTIONS

    def of_party(self) -> QuerySet[Any]:
        return fulfillments_of(self.supplier)

    def back(self) -> str:
        return reverse("portal:supplier_order", args=[self.record.pk])

    def record_name(self) -> str:
        return f"Order {self.record.order.retailer_order_id}"
