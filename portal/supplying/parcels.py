"""The correction of shipped parcels, with the rules of the API (contract 21)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.actors import Actor
from accounts.member_roles import Right
from accounts.operating.operator_actions import AdminAction, NothingChanged
from fulfillments.models import Fulfillment, MoveOutcome, Shipment
from fulfillments.tracking import identify
from portal.acting import PortalActionPage
from portal.navigation import ONLY_SUPPLIERS
from portal.supplying.forms import ParcelCorrectionForm


def _correct(parcel: Shipment, by: Actor, answers: dict[str, Any]) -> str:
    fulfillment = parcel.fulfillment
    with fulfillment.order.change(by=by) as change:
        outcome = fulfillment.correct_shipment(change, parcel, **answers)
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged("The parcel already has this number and carrier.")
    warning = identify(parcel.tracking_number, parcel.carrier).warning
    return f"The parcel {parcel.tracking_number} is corrected. {warning}".strip()


def _too_late(parcel: Shipment) -> str:
    days = settings.SHIPMENT_CORRECTION_DAYS
    if not days:
        return "Parcels cannot be corrected on this service. Ask its operator."
    late = timezone.now() - parcel.shipped_at > timedelta(days=days)
    return f"A parcel can be corrected for {days} days." if late else ""


CORRECT = AdminAction[Shipment](
    "correct",
    "Correct tracking number",
    _correct,
    _too_late,
    lambda parcel: f"The retailer gets the new number instead of {parcel.tracking_number}.",
    form=ParcelCorrectionForm.of,
    undo="Correct the parcel again. The history keeps the former number.",
)


class ParcelActionPage(PortalActionPage):
    """The page of an action on a parcel of a supplier's order."""

    section = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    actions = (CORRECT,)

    def of_party(self) -> QuerySet[Shipment]:
        work = Fulfillment.objects.for_supplier(self.supplier).not_held()
        own = Shipment.objects.filter(fulfillment__in=work)
        return own.select_related("fulfillment__order__retailer", "fulfillment__supplier")

    def back(self) -> str:
        return reverse("portal:supplier_order", args=[self.record.fulfillment_id])

    def record_name(self) -> str:
        return f"Order {self.record.fulfillment.order.retailer_order_id}"
