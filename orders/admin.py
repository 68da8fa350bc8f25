"""Orders for operators: the whole story of one on a page, and what can be done about it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.actors import Actor
from accounts.deeds import Deed, DeedAdmin, as_id, badge
from accounts.models import Retailer, Supplier
from api.errors import InvalidTransition
from events.timeline import timeline
from fulfillments.moving import Outcome
from inventory.models import Warehouse
from orders.models import Order
from orders.settling import ProcessingState

DONE = (ProcessingState.COMPLETED, ProcessingState.CANCELED)


class AddressForm(forms.Form):
    """A shipping address; what is required is what an order push requires."""

    first_name = forms.CharField(max_length=200, required=False)
    last_name = forms.CharField(max_length=200, required=False)
    company_name = forms.CharField(max_length=200, required=False)
    address1 = forms.CharField(max_length=200, label="Address line 1")
    address2 = forms.CharField(max_length=200, required=False, label="Address line 2")
    zip_code = forms.CharField(max_length=200, required=False, label="ZIP code")
    city = forms.CharField(max_length=200, required=False)
    state = forms.CharField(max_length=200, required=False)
    country = forms.CharField(max_length=200)
    phone_number = forms.CharField(max_length=200, required=False)
    email = forms.CharField(max_length=200, required=False)


class CancelForm(forms.Form):
    reason = forms.CharField(
        max_length=500, required=False, help_text="Suppliers and the retailer see it in the events."
    )


def _hold(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    held = order.hold(by=by) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is held' if held else 'was held already'}."


def _release(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    released = order.release(by=by) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is released' if released else 'was not held'}."


def _correct_address(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    changed = {
        part: value for part, value in answers.items() if value != order.shipping_address.get(part, "")
    }
    order.correct_address(changed, by=by)
    return f"The address was corrected; order {order.retailer_order_id} is {order.processing_state} now."


def _route_again(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    pieces = order.route_again(by=by)
    if not pieces:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    return (
        f"{pieces} pieces were routed again; order {order.retailer_order_id} is {order.processing_state} now."
    )


def _drop_refused(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    refused = {line.pk: line.rejected for line in order.lines.filter(rejected__gt=0)}
    if not refused:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    asked = [{"id": line, "quantity": quantity} for line, quantity in refused.items()]
    order.request_cancelation(by=by, asked=asked, reason=answers.get("reason", ""))
    return (
        f"What nobody can fill is canceled; order {order.retailer_order_id} is {order.processing_state} now."
    )


def _cancel(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    result = order.request_cancelation(by=by, reason=answers.get("reason", ""))
    if result.unchanged:
        return f"Order {order.retailer_order_id} is {order.processing_state} already."
    told = [f"{result.canceled} pieces are canceled", f"{result.requested} asked back from their suppliers"]
    if result.shipped:
        told.append(f"{result.shipped} have shipped and stay")
    return f"Order {order.retailer_order_id}: {', '.join(told)}."


def _open(order: Order) -> bool:
    return order.processing_state not in DONE


def _refused(order: Order) -> bool:
    return order.processing_state == ProcessingState.EXCEPTION and order.lines.filter(rejected__gt=0).exists()


DEEDS = (
    Deed[Order](
        "correct-address",
        "Correct address",
        _correct_address,
        _open,
        form=lambda order, sent: AddressForm(sent, initial=order.shipping_address),
        advice="Fulfillments that waited for a right address are released to their suppliers at once.",
    ),
    Deed[Order](
        "route-again",
        "Route again",
        _route_again,
        _refused,
        advice="Look once more for a supplier of what was refused: stock may have come in since.",
        bulk=True,
    ),
    Deed[Order](
        "drop-refused",
        "Cancel what nobody fills",
        _drop_refused,
        _refused,
        form=lambda order, sent: CancelForm(sent),
        advice="Only what was refused and has no other supplier is canceled; the rest goes on.",
        grave=True,
    ),
    Deed[Order](
        "hold",
        "Hold",
        _hold,
        lambda order: _open(order) and not order.held,
        advice="Suppliers do not capture it until it is released.",
        bulk=True,
    ),
    Deed[Order](
        "release",
        "Release",
        _release,
        lambda order: order.held,
        advice="Suppliers capture it from now on.",
        bulk=True,
    ),
    Deed[Order](
        "cancel",
        "Cancel order",
        _cancel,
        _open,
        form=lambda order, sent: CancelForm(sent),
        advice="As if the retailer had: suppliers that hold a part of it are asked to let it go; what no "
        "supplier holds is canceled at once; what has shipped stays.",
        grave=True,
    ),
)


class HeldFilter(admin.SimpleListFilter):
    """Open orders that are held: a small part of the table, which an index knows."""

    title, parameter_name = "held", "held"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Held")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Order]) -> QuerySet[Order]:
        if self.value() != "1":
            return queryset
        return queryset.filter(held=True).exclude(processing_state__in=DONE)


@admin.register(Order)
class OrderAdmin(DeedAdmin[Order]):
    """One order of one retailer, with all that became of it."""

    deeds = DEEDS
    page_template = "admin/orders/order/page.html"
    list_display = (
        "number",
        "retailer",
        "shown_state",
        "is_held",
        "ship_until",
        "created_at",
    )
    list_filter = ("processing_state", HeldFilter, "type", "retailer")
    list_per_page = 50
    list_select_related = ("retailer",)
    ordering = ("-id",)
    sortable_by = ()
    search_fields = ("retailer_order_id",)
    search_help_text = "The order's number here or at its retailer, in full"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        """Find by whole numbers only: parts of them would read the whole table."""
        term = search_term.strip()
        if not term:
            return queryset, False
        retailers = [*Retailer.objects.values_list("pk", flat=True)]  # the index begins with the retailer
        named = Q(retailer_order_id=term, retailer__in=retailers)
        return queryset.filter(named | Q(pk=as_id(term))), False

    @admin.display(description="order")
    def number(self, order: Order) -> str:
        return order.retailer_order_id

    @admin.display(description="state")
    def shown_state(self, order: Order) -> str:
        return badge(order.processing_state)

    @admin.display(description="held")
    def is_held(self, order: Order) -> str:
        return badge("held") if order.held else ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        return super().get_queryset(request).select_related("retailer")

    def page_context(self, order: Order) -> dict[str, Any]:
        fulfillments = order.fulfillments.select_related("supplier", "warehouse").order_by("id")
        return {
            "lines": order.lines.all(),
            "fulfillments": fulfillments.prefetch_related("lines__variant", "shipments"),
            "decisions": _decisions(order),
            "timeline": timeline(order_id=order.pk),
        }


def _decisions(order: Order) -> list[dict[str, Any]]:
    """Why its lines went where they went, with names in place of numbers."""
    decisions = list(order.routing_decisions.order_by("id"))
    candidates = [one for each in decisions for line in each.lines for one in line["candidates"]]
    suppliers = Supplier.objects.in_bulk({one["supplier_id"] for one in candidates})
    warehouses = Warehouse.objects.in_bulk({one["warehouse_id"] for one in candidates if one["warehouse_id"]})
    positions = {line.pk: line.position + 1 for line in order.lines.all()}
    return [
        {
            "cause": decision.cause,
            "decided_at": decision.decided_at,
            "lines": [
                {
                    **line,
                    "position": positions[line["line_id"]],
                    "candidates": [
                        {
                            **one,
                            "supplier": suppliers.get(one["supplier_id"]),
                            "warehouse": warehouses.get(one["warehouse_id"]),
                        }
                        for one in line["candidates"]
                    ],
                }
                for line in decision.lines
            ],
        }
        for decision in decisions
    ]
