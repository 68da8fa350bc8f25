"""Fulfillments for operators. They read every field, and change one only by its moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet, prefetch_related_objects
from django.http import HttpRequest

import fulfillments.admin.simulation_admin  # noqa: F401 - registers its pages
from accounts.models import Retailer
from accounts.operating.admin_actions import RecordAdmin, badge
from accounts.operating.admin_base import as_id
from accounts.operating.day_filter import DaysFilter
from accounts.operating.operator_actions import AdminAction
from api.prefix_search import begins
from fulfillments.admin.actions import ACTIONS
from fulfillments.admin.filters import OverdueFilter
from fulfillments.deadlines import next_due_at
from fulfillments.item_names import itemize
from fulfillments.models import Fulfillment, Shipment
from fulfillments.timeline import order_timeline

MOST_FOUND = 1_000  # results of a search by an order's number


@admin.register(Fulfillment)
class FulfillmentAdmin(RecordAdmin[Fulfillment]):
    """The list and the page of fulfillments."""

    record_actions: ClassVar[Sequence[AdminAction[Any]]] = ACTIONS
    acts_with: ClassVar[Sequence[str]] = (
        "order__retailer",
        "supplier",
        "warehouse",
        "partnership",
        "lines",
        "returns",
    )
    page_template = "admin/fulfillments/fulfillment/page.html"
    list_display = (
        "id",
        "order_number",
        "retailer",
        "supplier",
        "warehouse",
        "shown_state",
        "created_at",
    )
    list_display_links = ("id", "order_number")
    list_filter = ("state", ("created_at", DaysFilter), OverdueFilter, "supplier")
    more_columns = ("warehouse", "created_at", "updated_at", "due_at")
    list_select_related = ("order__retailer", "supplier", "warehouse")
    search_help_text = (
        "A fulfillment's number, the retailer's full order number, or the beginning of a tracking number"
    )

    def about(self, fulfillment: Fulfillment) -> str:
        order = fulfillment.order
        return f"of order {order.retailer_order_id} of {order.retailer}, at {fulfillment.supplier}"

    def search_condition(self, term: str) -> Q:
        retailers = [*Retailer.objects.values_list("pk", flat=True)]  # the index starts with the retailer
        of_order = Fulfillment.objects.filter(order__retailer_order_id=term, order__retailer__in=retailers)
        parcels = Shipment.objects.filter(begins("tracking_number", term))
        # Separate queries, because an OR across the joins would read whole tables.
        ids = {
            *of_order.values_list("pk", flat=True)[:MOST_FOUND],
            *parcels.values_list("fulfillment_id", flat=True)[:MOST_FOUND],
        }
        return Q(pk__in=[as_id(term), *ids])

    @admin.display(description="state")
    def shown_state(self, fulfillment: Fulfillment) -> str:
        return badge(fulfillment.state)

    @admin.display(description="order")
    def order_number(self, fulfillment: Fulfillment) -> str:
        return fulfillment.order.retailer_order_id

    @admin.display(description="retailer")
    def retailer(self, fulfillment: Fulfillment) -> str:
        return fulfillment.order.retailer.name

    def get_queryset(self, request: HttpRequest) -> QuerySet[Fulfillment]:
        return (
            super()
            .get_queryset(request)
            .select_related("order__retailer", "supplier", "warehouse", "partnership")
        )

    def page_context(self, fulfillment: Fulfillment) -> dict[str, Any]:
        capture = getattr(fulfillment, "capture", None)
        prefetch_related_objects([fulfillment], "lines", "shipments", "rejections", "returns")
        names = {line.pk: line.name for line in fulfillment.order.lines.all()}
        entries, more = order_timeline(fulfillment.order_id, names, fulfillment.pk)
        return {
            "lines": fulfillment.lines.all(),
            **{name: list(itemize([fulfillment], name)) for name in ("shipments", "rejections", "returns")},
            "captured_at": capture and capture.captured_at,
            "due_at": next_due_at(
                fulfillment.state,
                fulfillment.due_at,
                fulfillment.capture_due_at,
                captured=capture is not None,
            ),
            "entries": entries,
            "more_entries": more,
        }
