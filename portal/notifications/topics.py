"""The topics of mails to members. Each topic reads only records of the member's own party."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.scorecard.selectors import last_feed
from fulfillments.states import State
from imports.models import ImportJob, Status
from orders.models import Order
from orders.processing_state import ProcessingState
from portal.late import TO_ANSWER
from portal.supplying.feeds import STALE
from portal.supplying.selectors import fulfillments_of

MOST_LINES = 50
"""The maximum number of records of one topic in a mail."""
OLDEST = timedelta(days=1)
"""The maximum age of mailed events. After some time without a mail server, older events are left out."""


@dataclass(frozen=True)
class MailWindow:
    """The party, the event numbers and the time that a mail covers."""

    party: Supplier | Retailer
    after: int
    until: int
    since: datetime
    now: datetime

    @property
    def supplier(self) -> Supplier:
        assert isinstance(self.party, Supplier)
        return self.party

    def ids(self, column: str, *types: str) -> list[int]:
        """Return the ids in `column` of the party's events of these types, oldest event first."""
        events = Event.objects.filter(
            **{self.party.role.value: self.party},
            type__in=types,
            number__gt=self.after,
            number__lte=self.until,
            occurred_at__gt=self.now - OLDEST,
        )
        return [*events.order_by("number").values_list(column, flat=True)[:MOST_LINES]]


@dataclass(frozen=True)
class MailTopic:
    """A topic: its name, its label, the role of its parties, and the function that yields its lines."""

    name: str
    label: str
    side: Role
    lines: Callable[[MailWindow], Iterable[str]]


def _url(name: str, *args: object) -> str:
    return settings.BASE_URL + reverse(f"portal:{name}", args=args)


def _of_suppliers(fulfillments: Iterable[Fulfillment]) -> Iterable[str]:
    for each in fulfillments:
        due = f", due {each.due_at:%-d %b %Y, %H:%M} UTC" if each.due_at else ""
        yield f"Order {each.order.retailer_order_id} of {each.order.retailer}{due}"
        yield f"  {_url('supplier_order', each.pk)}"


def _new(window: MailWindow) -> Iterable[str]:
    ids = window.ids("fulfillment_id", "fulfillment.created", "fulfillment.released")
    return _of_suppliers(fulfillments_of(window.supplier).filter(pk__in=ids, state=State.NEW))


def _late(window: MailWindow) -> Iterable[str]:
    late = fulfillments_of(window.supplier).filter(
        state__in=TO_ANSWER, due_at__gt=window.since, due_at__lte=window.now
    )
    return _of_suppliers(late.order_by("due_at", "pk")[:MOST_LINES])


def _cancellations(window: MailWindow) -> Iterable[str]:
    ids = window.ids("fulfillment_id", "fulfillment.cancelation_requested")
    return _of_suppliers(fulfillments_of(window.supplier).filter(pk__in=ids, state=State.CANCELING))


def _failed_files(window: MailWindow) -> Iterable[str]:
    own = ImportJob.objects.filter(supplier=window.supplier, status=Status.FAILED)
    for job in own.filter(pk__in=window.ids("import_id", "import.failed")):
        yield f"Import {job.pk} of {job.source or 'rows'}: {job.error['message'] if job.error else 'failed'}"
        yield f"  {_url('file', job.pk)}"


def _old_stock(window: MailWindow) -> Iterable[str]:
    counted = last_feed(window.supplier)
    if counted and window.since < counted + STALE <= window.now:
        yield f"Your stock was last counted {counted:%-d %b %Y, %H:%M} UTC."
        yield f"  {_url('today')}"


def _of_retailers(window: MailWindow, state: ProcessingState, event: str) -> Iterable[str]:
    own = Order.objects.filter(retailer=window.party.pk, processing_state=state)
    for order in own.filter(pk__in=window.ids("order_id", event)):
        yield f"Order {order.retailer_order_id}"
        yield f"  {_url('retailer_order', order.pk)}"


def _problems(window: MailWindow) -> Iterable[str]:
    return _of_retailers(window, ProcessingState.EXCEPTION, "order.exception")


def _canceled(window: MailWindow) -> Iterable[str]:
    return _of_retailers(window, ProcessingState.CANCELED, "order.canceled")


TOPICS = (
    MailTopic("new_orders", "New orders", Role.SUPPLIER, _new),
    MailTopic("late_orders", "Late orders", Role.SUPPLIER, _late),
    MailTopic("cancellations", "Cancellations to answer", Role.SUPPLIER, _cancellations),
    MailTopic("failed_files", "Failed files", Role.SUPPLIER, _failed_files),
    MailTopic("old_stock", "Stock not updated for a day", Role.SUPPLIER, _old_stock),
    MailTopic("problems", "Orders with a problem", Role.RETAILER, _problems),
    MailTopic("canceled_orders", "Canceled orders", Role.RETAILER, _canceled),
)


def topics_of(side: Role) -> list[MailTopic]:
    return [topic for topic in TOPICS if topic.side == side]
