"""The topics of mails to members. Each topic reads only records of the member's own party."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from events.models import Event
from fulfillments.models import Fulfillment, limit_passed, next_limit
from fulfillments.scorecard.selectors import last_feed
from fulfillments.states import State
from imports.models import ImportJob, Status
from orders.models import Order
from orders.processing_state import ProcessingState
from portal.late import TO_ANSWER
from portal.supplying.feeds import STALE
from portal.supplying.selectors import fulfillments_of

MOST_RECORDS = 50
"""The maximum number of records of one topic in a mail. The mail has the number of further records."""
LONGEST_GAP = timedelta(days=7)
"""The maximum age of mailed events. If no mail was sent for longer, the next mail reports the gap."""


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

    @property
    def oldest(self) -> datetime:
        """The time of the oldest event that the mail may cover."""
        return self.now - LONGEST_GAP

    def ids(self, column: str, *types: str) -> list[int]:
        """Return the ids in `column` of the party's events of these types."""
        events = Event.objects.filter(
            **{self.party.role.value: self.party},
            type__in=types,
            number__gt=self.after,
            number__lte=self.until,
            occurred_at__gt=self.oldest,
        )
        return [*events.order_by().values_list(column, flat=True)]


@dataclass(frozen=True)
class MailTopic:
    """A topic: its name, its label, the role of its parties, and the function that yields its lines."""

    name: str
    label: str
    side: Role
    lines: Callable[[MailWindow], Iterable[str]]


def _url(name: str, *args: object) -> str:
    return settings.BASE_URL + reverse(f"portal:{name}", args=args)


def _listed(
    found: QuerySet[Any], lines_of: Callable[[Any], Iterable[str]], page: str, tab: str
) -> Iterator[str]:
    """Yield the lines of the first records. Yield the number of further records with the link to the list."""
    shown = list(found[: MOST_RECORDS + 1])
    for record in shown[:MOST_RECORDS]:
        yield from lines_of(record)
    if len(shown) > MOST_RECORDS:
        yield f"and {found.count() - MOST_RECORDS:,} more. See the list:"
        yield f"  {_url(page)}?tab={tab}"


def _work(fulfillment: Fulfillment) -> Iterator[str]:
    limit = fulfillment.next_due_at
    due = f", due {limit:%-d %b %Y, %H:%M} UTC" if limit else ""
    order = fulfillment.order
    yield f"Order {order.retailer_order_id} of {order.retailer}{due}"
    yield f"  {_url('supplier_order', fulfillment.pk)}"


def _order(order: Order) -> Iterator[str]:
    yield f"Order {order.retailer_order_id}"
    yield f"  {_url('retailer_order', order.pk)}"


def _file(job: ImportJob) -> Iterator[str]:
    yield f"Import {job.pk} of {job.source or 'rows'}: {job.error['message'] if job.error else 'failed'}"
    yield f"  {_url('file', job.pk)}"


def _new(window: MailWindow) -> Iterable[str]:
    ids = window.ids("fulfillment_id", "fulfillment.created", "fulfillment.released")
    new = fulfillments_of(window.supplier).filter(pk__in=ids, state=State.NEW)
    return _listed(new.order_by("pk"), _work, "supplier_orders", "new")


def _late(window: MailWindow) -> Iterable[str]:
    passed = limit_passed(window.now, after=window.since)
    late = fulfillments_of(window.supplier).filter(passed, state__in=TO_ANSWER)
    return _listed(late.order_by(next_limit(), "pk"), _work, "supplier_orders", "late")


def _cancellations(window: MailWindow) -> Iterable[str]:
    ids = window.ids("fulfillment_id", "fulfillment.cancelation_requested")
    asked = fulfillments_of(window.supplier).filter(pk__in=ids, state=State.CANCELING)
    return _listed(asked.order_by("pk"), _work, "supplier_orders", "canceling")


def _failed_files(window: MailWindow) -> Iterable[str]:
    ids = window.ids("import_id", "import.failed")
    failed = ImportJob.objects.filter(supplier=window.supplier, status=Status.FAILED, pk__in=ids)
    return _listed(failed.order_by("pk"), _file, "files", "failed")


def _old_stock(window: MailWindow) -> Iterable[str]:
    counted = last_feed(window.supplier)
    if counted and window.since < counted + STALE <= window.now:
        yield f"Your stock was last counted {counted:%-d %b %Y, %H:%M} UTC."
        yield f"  {_url('today')}"


def _of_retailers(window: MailWindow, state: ProcessingState, event: str, tab: str) -> Iterable[str]:
    ids = window.ids("order_id", event)
    own = Order.objects.filter(retailer=window.party.pk, processing_state=state, pk__in=ids)
    return _listed(own.order_by("pk"), _order, "retailer_orders", tab)


def _problems(window: MailWindow) -> Iterable[str]:
    return _of_retailers(window, ProcessingState.EXCEPTION, "order.exception", "exception")


def _canceled(window: MailWindow) -> Iterable[str]:
    return _of_retailers(window, ProcessingState.CANCELED, "order.canceled", "canceled")


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
