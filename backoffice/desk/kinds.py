"""The list of all desk kinds. Most kinds find their rows by a small partial index."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from django.db.models import Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Now

from accounts.models import ContactMessage, Supplier
from accounts.operating.admin_filters import FieldIs
from backoffice.desk.feeds import stale_feeds
from backoffice.desk.items import DeskKind
from backoffice.desk.parts import silent_parts
from backoffice.desk.receivers import failing_webhooks
from backoffice.desk.texts import (
    address_text,
    answer_text,
    feed_text,
    fulfillment_text,
    import_text,
    in_one_line,
    late_text,
    order_text,
    part_text,
    refused_text,
    short_text,
    stock_text,
    webhook_text,
)
from backoffice.models import ServicePart
from events.models import Webhook
from fulfillments.models import CAPTURE_OVERDUE, HELD, Fulfillment
from fulfillments.states import State
from imports.admin_filters import RecentlyFailedFilter
from imports.models import ImportJob, Status
from inventory.admin_filters import OverpromisedFilter
from inventory.models import StockLevel
from orders.admin.filters import (
    AddressInPartFilter,
    BackorderedFilter,
    HeldFilter,
    RefusedFilter,
    UnknownCountryFilter,
    WaitingFilter,
)
from orders.models import Order, OrderLine

ANSWERS = (("approve-cancelation", "Approve cancellation"), ("refuse-cancelation", "Refuse cancellation"))
REASSIGN_OR_CANCEL = (("withdraw", "Reassign fulfillment"), ("request-cancelation", "Request cancellation"))


def _orders() -> QuerySet[Order]:
    return Order.objects.select_related("retailer")


def _fulfillments() -> QuerySet[Fulfillment]:
    return Fulfillment.objects.select_related("order__retailer", "supplier")


def _late() -> QuerySet[Fulfillment]:
    return _fulfillments().filter(due_at__lte=Now()).exclude(HELD).exclude(state=State.CANCELING)


def _uncaptured() -> QuerySet[Fulfillment]:
    return _fulfillments().filter(CAPTURE_OVERDUE, order__held=False)


def _short() -> QuerySet[Order]:
    """Return open orders with backordered lines."""
    waiting = WaitingFilter.narrow(OrderLine.objects.filter(order=OuterRef("pk"))).order_by()
    since = waiting.values("order").annotate(first=Min("waiting_since")).values("first")
    orders = BackorderedFilter.narrow(_orders())
    return orders.annotate(waits_since=Subquery(since)).prefetch_related("lines")


def _imports(*statuses: Status) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(status__in=statuses).select_related("supplier")


WORK = partial(
    DeskKind,
    model=Fulfillment,
    supplier="supplier",
    retailer="order__retailer",
    party="supplier",
    since="updated_at",
    due="due_at",
    order="order_id",
)
ORDER = partial(
    DeskKind,
    model=Order,
    retailer="retailer",
    party="retailer",
    since="updated_at",
    due="ship_until",
    is_day=True,
    order="pk",
)

# Kinds with more useful actions come first: an order of several kinds is listed under the first kind.
KINDS = (
    WORK(
        "address",
        "Wrong address",
        "The supplier cannot deliver to the address. Ask the retailer, then correct the address.",
        rows=lambda: _fulfillments().filter(state=State.WRONG_ADDRESS),
        read=address_text,
        due="order__ship_until",
        is_day=True,
        actions=(("correct-address", "Correct address"), ("give-up", "Cancel fulfillment")),
        listed=Fulfillment,
        filters=(FieldIs("state", State.WRONG_ADDRESS),),
    ),
    ORDER(
        "address-in-part",
        "Wrong address in part",
        "The supplier cannot deliver some units to the address. Ask the retailer, then correct the address.",
        rows=lambda: AddressInPartFilter.narrow(_orders()),
        read=lambda order: order_text(order, in_one_line(order.shipping_address)),
        actions=(("correct-address", "Correct address"), ("drop-refused", "Cancel refused units")),
        listed=Order,
        filters=(AddressInPartFilter,),
    ),
    ORDER(
        "refused",
        "Refused by all",
        "No supplier fills these lines. Route them again, or cancel them.",
        rows=lambda: RefusedFilter.narrow(_orders()).prefetch_related("lines"),
        read=refused_text,
        actions=(("route-again", "Route order again"), ("drop-refused", "Cancel refused units")),
        listed=Order,
        filters=(RefusedFilter,),
    ),
    WORK(
        "cancellation",
        "Cancellation unanswered",
        "The supplier has not answered the cancellation request. Answer it for the supplier.",
        rows=lambda: _fulfillments().filter(state=State.CANCELING),
        read=lambda work: fulfillment_text(
            work, f"{work.supplier} has not answered the cancellation request"
        ),
        actions=ANSWERS,
        listed=Fulfillment,
        filters=(FieldIs("state", State.CANCELING),),
    ),
    WORK(
        "overdue",
        "Overdue",
        "The supplier should have accepted or shipped by now. Ask the supplier, or reassign.",
        rows=_late,
        read=late_text,
        always_due=True,
        actions=REASSIGN_OR_CANCEL,
    ),
    WORK(
        "uncaptured",
        "Not captured in time",
        "The supplier has not read these fulfillments. Check the supplier's connection.",
        rows=_uncaptured,
        read=lambda work: fulfillment_text(work, f"Fulfillment {work.pk} should have been captured"),
        due="capture_due_at",
        always_due=True,
        actions=REASSIGN_OR_CANCEL,
    ),
    ORDER(
        "country",
        "Unknown country",
        "The country is in no list of countries. Ask the retailer, then correct the address.",
        rows=lambda: UnknownCountryFilter.narrow(_orders()),
        read=lambda order: order_text(order, str(order.shipping_address.get("country", ""))),
        actions=(("correct-address", "Correct address"),),
        listed=Order,
        filters=(UnknownCountryFilter,),
    ),
    ORDER(
        "held",
        "Held",
        "Suppliers do not see these orders until you release them.",
        rows=lambda: HeldFilter.narrow(_orders()),
        read=lambda order: order_text(order, "Hidden from its suppliers until you release it"),
        actions=(("release", "Release order"), ("cancel", "Cancel order")),
        listed=Order,
        filters=(HeldFilter,),
    ),
    ORDER(
        "backordered",
        "Backordered",
        "Arriving stock goes to the oldest order automatically. Ask the supplier for a date, or cancel.",
        rows=_short,
        read=short_text,
        since="waits_since",
        actions=(("cancel", "Cancel order"),),
        listed=Order,
        filters=(BackorderedFilter,),
    ),
    DeskKind(
        "overpromised",
        "Over-promised stock",
        "More units are reserved than the last count found. Ask the supplier to count again.",
        StockLevel,
        lambda: OverpromisedFilter.narrow(
            StockLevel.objects.select_related("variant", "warehouse__supplier")
        ),
        stock_text,
        supplier="warehouse__supplier",
        party="warehouse__supplier",
        since="counted_at",
        actions=(("count", "Count stock"), ("adjust", "Adjust stock")),
        listed=StockLevel,
        filters=(OverpromisedFilter,),
    ),
    DeskKind(
        "approval",
        "Awaiting approval",
        "The import changes more than the supplier's limits allow. Check it, then approve or cancel it.",
        ImportJob,
        lambda: _imports(Status.AWAITING_APPROVAL),
        import_text,
        supplier="supplier",
        party="supplier",
        since="created_at",
        actions=(("approve", "Approve import"), ("cancel", "Cancel import"), ("message", "Message supplier")),
        listed=ImportJob,
        filters=(FieldIs("status", Status.AWAITING_APPROVAL),),
    ),
    DeskKind(
        "failed",
        "Import failed",
        "The file could not be read. The import shows the reason, in words for its supplier.",
        ImportJob,
        lambda: RecentlyFailedFilter.narrow(_imports(Status.FAILED)),
        import_text,
        supplier="supplier",
        party="supplier",
        since="created_at",
        actions=(("message", "Message supplier"), ("retry", "Retry import")),
        listed=ImportJob,
        filters=(RecentlyFailedFilter,),
    ),
    DeskKind(
        "answer",
        "Unread answer",
        "Someone answered a message in the portal. Read the answer, then write back or mark it as read.",
        ContactMessage,
        lambda: ContactMessage.objects.unread_answers().select_related(
            "contact__supplier", "contact__retailer"
        ),
        answer_text,
        supplier="contact__supplier",
        retailer="contact__retailer",
        since="created_at",
        actions=(("read", "Mark as read"),),
    ),
    DeskKind(
        "feed",
        "Silent stock feed",
        "The supplier has sent no count for two days. Ask the supplier.",
        Supplier,
        stale_feeds,
        feed_text,
        supplier="pk",
        party="pk",
        since="heard_at",
    ),
    DeskKind(
        "webhook",
        "Failing webhook",
        "The receiver is down, or events were given up. Tell the party.",
        Webhook,
        failing_webhooks,
        webhook_text,
        supplier="supplier",
        retailer="retailer",
        since="waits_since",
        actions=(("test", "Send test event"), ("resend_dead", "Send dead deliveries again")),
    ),
    DeskKind(
        "part",
        "Silent service part",
        "A part of the service gives no sign of life. Tell an administrator.",
        ServicePart,
        silent_parts,
        part_text,
        supplier="of_supplier",
        since="heard_at",
        actions=(("taken-away", "Mark part as removed"),),
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}


class _PermissionHolder(Protocol):
    def has_perm(self, permission: str) -> bool: ...


def kinds_for(user: _PermissionHolder) -> list[DeskKind]:
    """Return the kinds whose records the user may view."""
    return [kind for kind in KINDS if user.has_perm(_view_permission(kind))]


def _view_permission(kind: DeskKind) -> str:
    return f"{kind.model._meta.app_label}.view_{kind.model._meta.model_name}"
