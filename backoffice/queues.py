"""The operators' queues: what waits for a human, each with its first rows and a link to all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone

from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.models import ImportJob, Status
from inventory.models import StockLevel
from orders.models import Order
from orders.settling import ProcessingState

SHOWN = 5
COUNTED = 100
RECENT = timedelta(days=7)


@dataclass(frozen=True)
class Queue:
    """One kind of work: where it is listed, and what an operator does about it."""

    title: str
    advice: str
    rows: Callable[[], QuerySet[Any]]
    listed_at: dict[str, str]
    describe: Callable[[Any], str]

    @property
    def model(self) -> type[Model]:
        return self.rows().model

    @property
    def url(self) -> str:
        meta = self.model._meta
        listing = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        return f"{listing}?{urlencode(self.listed_at)}"


@dataclass(frozen=True)
class Item:
    """One row of a queue, as the home page shows it."""

    text: str
    url: str


@dataclass(frozen=True)
class Waiting:
    """A queue as it stands: how many wait, and the first few."""

    queue: Queue
    count: int
    items: list[Item]

    @property
    def counted(self) -> str:
        return f"{COUNTED}+" if self.count > COUNTED else str(self.count)


def _exceptions() -> QuerySet[Order]:
    return Order.objects.filter(processing_state=ProcessingState.EXCEPTION).select_related("retailer")


def _held() -> QuerySet[Order]:
    done = [ProcessingState.COMPLETED, ProcessingState.CANCELED]
    return Order.objects.filter(held=True).exclude(processing_state__in=done).select_related("retailer")


def _fulfillments(state: State) -> QuerySet[Fulfillment]:
    return Fulfillment.objects.filter(state=state).select_related("supplier", "order")


def _wrong_addresses() -> QuerySet[Fulfillment]:
    return _fulfillments(State.WRONG_ADDRESS)


def _overdue() -> QuerySet[Fulfillment]:
    return Fulfillment.objects.overdue().select_related("supplier", "order")


def _cancellations() -> QuerySet[Fulfillment]:
    return _fulfillments(State.CANCELING)


def _overpromised() -> QuerySet[StockLevel]:
    return StockLevel.objects.filter(overpromised=True).select_related("variant", "warehouse__supplier")


def _imports(status: Status) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(status=status).select_related("supplier")


def _awaiting() -> QuerySet[ImportJob]:
    return _imports(Status.AWAITING_APPROVAL)


def _failed() -> QuerySet[ImportJob]:
    return _imports(Status.FAILED).filter(created_at__gte=timezone.now() - RECENT)


def _order(order: Order) -> str:
    return f"{order.retailer_order_id} of {order.retailer}"


def _fulfillment(fulfillment: Fulfillment) -> str:
    return f"{fulfillment.order.retailer_order_id}, at {fulfillment.supplier}"


def _stock(level: StockLevel) -> str:
    place = f"{level.warehouse.supplier}, {level.warehouse}"
    return f"{level.variant.sku} at {place}: {level.reserved} promised, {level.on_hand} there"


def _job(job: ImportJob) -> str:
    return f"{job.kind} of {job.supplier}: {job.source}"


QUEUES = (
    Queue(
        "Orders in exception",
        "Nobody can fill a line, or an address is wrong. Decide what becomes of it.",
        _exceptions,
        {"processing_state__exact": ProcessingState.EXCEPTION.value},
        _order,
    ),
    Queue(
        "Wrong addresses",
        "A supplier cannot deliver there. Ask the retailer, correct the address, release it again.",
        _wrong_addresses,
        {"state__exact": State.WRONG_ADDRESS.value},
        _fulfillment,
    ),
    Queue(
        "Cancellations waiting",
        "Retailers asked for these back; the suppliers have not answered yet.",
        _cancellations,
        {"state__exact": State.CANCELING.value},
        _fulfillment,
    ),
    Queue(
        "Overdue",
        "Suppliers should have captured, accepted, shipped or answered these by now.",
        _overdue,
        {"overdue": "1"},
        _fulfillment,
    ),
    Queue(
        "Held orders",
        "Suppliers do not see these until they are released.",
        _held,
        {"held__exact": "1"},
        _order,
    ),
    Queue(
        "Over-promised stock",
        "More is promised than the last count found. Ask the supplier to count again.",
        _overpromised,
        {"overpromised": "1"},
        _stock,
    ),
    Queue(
        "Imports awaiting approval",
        "They would change more than the brake allows. Look, then approve or cancel.",
        _awaiting,
        {"status__exact": Status.AWAITING_APPROVAL.value},
        _job,
    ),
    Queue(
        "Imports that failed this week",
        "The file could not be read. The job says why, in words for its supplier.",
        _failed,
        {"status__exact": Status.FAILED.value},
        _job,
    ),
)


def waiting_for(user: User | AnonymousUser) -> list[Waiting]:
    """The queues that this user may see, as they stand: one cheap query each."""
    return [_look(queue) for queue in QUEUES if user.has_perm(_view_permission(queue.model))]


def _view_permission(model: type[Model]) -> str:
    return f"{model._meta.app_label}.view_{model._meta.model_name}"


def _look(queue: Queue) -> Waiting:
    """Read a few more rows than are shown: enough to say how many there are, up to COUNTED."""
    rows = list(queue.rows().order_by("id")[: COUNTED + 1])
    meta = queue.model._meta
    change = f"admin:{meta.app_label}_{meta.model_name}_change"
    items = [Item(queue.describe(row), reverse(change, args=[row.pk])) for row in rows[:SHOWN]]
    return Waiting(queue, len(rows), items)
