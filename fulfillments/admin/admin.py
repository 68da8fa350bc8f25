"""The fulfillments in the admin. Operators read every field, and change a fulfillment only by its moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum, Value, prefetch_related_objects
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import URLPattern, path

import fulfillments.admin.simulation_admin
import fulfillments.admin.target_admin  # noqa: F401 - the imports register the pages
from accounts.models import Retailer
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.day_filter import DaysFilter
from accounts.operating.operator_actions import AdminAction
from api.amounts import NO_AMOUNT, amount_text
from api.ids import as_id
from api.prefix_search import begins
from fulfillments.admin.actions import ACTIONS
from fulfillments.admin.filters import CountedFilter, OpenWorkFilter, OverdueFilter
from fulfillments.admin.printing import print_slips, slip_view
from fulfillments.item_names import ITEMIZED, itemize
from fulfillments.models import Fulfillment, FulfillmentLine, Shipment
from fulfillments.models.line import agreed_total_of_lines
from fulfillments.timeline import order_timeline
from fulfillments.timeline_rows import timeline_rows
from ui.badges import badge

# The largest number of fulfillments that a search finds by an order number, and by a tracking number.
MOST_FOUND = 1_000


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
    actions = (print_slips,)
    list_display = (
        "id",
        "order_number",
        "retailer",
        "supplier",
        "shown_state",
        "problem",
        "due",
        "units",
        "amount",
        "created_at",
    )
    list_display_links = ("id", "order_number")
    list_filter = (
        "state",
        OpenWorkFilter,
        ("created_at", DaysFilter),
        OverdueFilter,
        CountedFilter,
        "supplier",
    )
    open_filter = OpenWorkFilter
    sorted_while_open: ClassVar[dict[str, str]] = {"due": "", "amount": "-"}
    more_columns = ("warehouse", "updated_at")
    list_select_related = ("order__retailer", "supplier", "warehouse", "capture")
    search_help_text = (
        "A fulfillment's number, the retailer's full order number, or the beginning of a tracking number"
    )

    def get_urls(self) -> list[URLPattern]:
        may_print = permission_required("fulfillments.view_fulfillment", raise_exception=True)
        slip = self.admin_site.admin_view(may_print(slip_view))
        name = "fulfillments_fulfillment_packing_slip"
        return [path("<int:fulfillment_id>/packing-slip/", slip, name=name), *super().get_urls()]

    def about(self, fulfillment: Fulfillment) -> str:
        order = fulfillment.order
        return f"of order {order.retailer_order_id} of {order.retailer}, at {fulfillment.supplier}"

    def search_condition(self, term: str) -> Q:
        # Name all retailers: the index of order numbers begins with the retailer, then the number.
        retailers = [*Retailer.objects.values_list("pk", flat=True)]
        of_order = Fulfillment.objects.filter(order__retailer_order_id=term, order__retailer__in=retailers)
        parcels = Shipment.objects.filter(begins("tracking_number", term))
        # Use two queries: a single query with an OR across the joins would read whole tables.
        ids = {
            *of_order.values_list("pk", flat=True)[:MOST_FOUND],
            *parcels.values_list("fulfillment_id", flat=True)[:MOST_FOUND],
        }
        return Q(pk__in=[as_id(term), *ids])

    def get_sortable_by(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the sortable columns. Time limit and amount have an index only for open fulfillments."""
        is_open = OpenWorkFilter.is_chosen(request) or OverdueFilter.is_chosen(request)
        return ("id", *self.sorted_while_open) if is_open else ("id",)

    def with_columns(self, rows: QuerySet[Fulfillment]) -> QuerySet[Fulfillment]:
        """Add the number of units and the amount to the rows of the list (`backoffice.lists`)."""
        lines = FulfillmentLine.objects.filter(fulfillment=OuterRef("pk")).order_by().values("fulfillment")
        return rows.annotate(
            unit_count=Subquery(lines.annotate(sum=Sum("quantity")).values("sum")),
            agreed=agreed_total_of_lines(),
        )

    @admin.display(description="problem")
    def problem(self, fulfillment: Fulfillment) -> str:
        if fulfillment.is_held:
            return badge("held")
        return badge("overdue") if fulfillment.is_overdue else ""

    @admin.display(description="due", ordering="due_at")
    def due(self, fulfillment: Fulfillment) -> datetime | None:
        return fulfillment.next_due_at

    @admin.display(description="units")
    def units(self, fulfillment: Any) -> int:
        return fulfillment.unit_count or 0

    @admin.display(description="amount", ordering=Coalesce("agreed_total", Value(NO_AMOUNT)))
    def amount(self, fulfillment: Any) -> str:
        return "" if fulfillment.agreed is None else amount_text(fulfillment.agreed, fulfillment.currency)

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

    def page_context(self, request: HttpRequest, fulfillment: Fulfillment) -> dict[str, object]:
        capture = getattr(fulfillment, "capture", None)
        prefetch_related_objects([fulfillment], "lines", *ITEMIZED)
        names = {line.pk: line.name for line in fulfillment.order.lines.all()}
        entries, more = order_timeline(fulfillment.order_id, names, fulfillment.pk)
        return {
            "lines": fulfillment.lines.all(),
            **{name: list(itemize([fulfillment], name)) for name in ITEMIZED},
            "captured_at": capture and capture.captured_at,
            "due_at": fulfillment.next_due_at,
            "overdue": fulfillment.is_overdue,
            "entries": entries,
            "rows": timeline_rows(
                entries, {fulfillment.pk: fulfillment.supplier.name}, fulfillment.order.retailer.name
            ),
            "more_entries": more,
        }
