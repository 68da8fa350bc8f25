"""The operators' queues: what waits for a human, each with its first rows and a link to all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet
from django.urls import reverse

from accounts.operating.admin_filters import FieldIs, Narrowing, list_url
from events.admin_filters import FailingFilter
from events.models import Webhook
from fulfillments.admin.filters import OverdueFilter
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.admin_filters import RecentlyFailedFilter
from imports.models import ImportJob, Status
from inventory.admin_filters import OverpromisedFilter
from inventory.models import StockLevel
from orders.admin.filters import HeldFilter, UnknownCountryFilter, WaitingFilter
from orders.models import Order, OrderLine
from orders.processing_state import ProcessingState

SHOWN = 5
COUNTED = 100


@dataclass(frozen=True)
class Queue:
    """One kind of work: the list that it is part of, what narrows that list to it, and what is to be done.

    The same filters choose the rows here and stand in the link, so that it leads to these rows.
    """

    title: str
    help_text: str
    model: type[Model]
    filters: Sequence[Narrowing]
    describe: Callable[[Any], str]
    related: Sequence[str] = ()

    @property
    def url(self) -> str:
        return list_url(self.model, self.filters)

    def rows(self) -> QuerySet[Any]:
        rows = self.model._default_manager.select_related(*self.related)
        for each in self.filters:
            rows = each.narrow(rows)
        return rows


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


def _order(order: Order) -> str:
    return f"{order.retailer_order_id} of {order.retailer}"


def _line(line: OrderLine) -> str:
    missing = line.open - line.reserved + line.waiting + line.rejected
    return f"{missing} × {line.sku or line.upc or line.asked_variant_id}, order {_order(line.order)}"


def _fulfillment(fulfillment: Fulfillment) -> str:
    return f"{fulfillment.order.retailer_order_id}, at {fulfillment.supplier}"


def _stock(level: StockLevel) -> str:
    place = f"{level.warehouse.supplier}, {level.warehouse}"
    return f"{level.variant.sku} at {place}: {level.reserved} promised, {level.on_hand} there"


def _job(job: ImportJob) -> str:
    return f"{job.kind} of {job.supplier}: {job.source}"


def _webhook(webhook: Webhook) -> str:
    return f"{webhook}: {webhook.last_error}"


OF_ORDERS = ("retailer",)
OF_FULFILLMENTS = ("supplier", "order")

QUEUES = (
    Queue(
        "Orders in exception",
        "Nobody can fill a line, or an address is wrong. Decide what becomes of it.",
        Order,
        [FieldIs("processing_state", ProcessingState.EXCEPTION)],
        _order,
        OF_ORDERS,
    ),
    Queue(
        "Wrong addresses",
        "A supplier cannot deliver there. Ask the retailer, correct the address, release it again.",
        Fulfillment,
        [FieldIs("state", State.WRONG_ADDRESS)],
        _fulfillment,
        OF_FULFILLMENTS,
    ),
    Queue(
        "Cancellations waiting",
        "Retailers asked for these back; the suppliers have not answered yet.",
        Fulfillment,
        [FieldIs("state", State.CANCELING)],
        _fulfillment,
        OF_FULFILLMENTS,
    ),
    Queue(
        "Overdue",
        "Suppliers should have captured, accepted, shipped or answered these by now.",
        Fulfillment,
        [OverdueFilter],
        _fulfillment,
        OF_FULFILLMENTS,
    ),
    Queue(
        "Unknown countries",
        "No list of countries has these. Ask the retailer, and correct the address.",
        Order,
        [UnknownCountryFilter],
        _order,
        OF_ORDERS,
    ),
    Queue(
        "Held orders",
        "Suppliers do not see these until they are released.",
        Order,
        [HeldFilter],
        _order,
        OF_ORDERS,
    ),
    Queue(
        "Waiting for stock",
        "What arrives goes to the oldest order by itself. Ask when it will, or whether to cancel.",
        OrderLine,
        [WaitingFilter],
        _line,
        ("order__retailer",),
    ),
    Queue(
        "Over-promised stock",
        "More is promised than the last count found. Ask the supplier to count again.",
        StockLevel,
        [OverpromisedFilter],
        _stock,
        ("variant", "warehouse__supplier"),
    ),
    Queue(
        "Imports awaiting approval",
        "They would change more than the supplier's limits allow. Look, then approve or cancel.",
        ImportJob,
        [FieldIs("status", Status.AWAITING_APPROVAL)],
        _job,
        ("supplier",),
    ),
    Queue(
        "Imports that failed this week",
        "The file could not be read. The job says why, in words for its supplier.",
        ImportJob,
        [RecentlyFailedFilter],
        _job,
        ("supplier",),
    ),
    Queue(
        "Webhooks whose receivers are down",
        "They have taken nothing for ten minutes, and events wait for them. Tell the party.",
        Webhook,
        [FailingFilter],
        _webhook,
        ("supplier", "retailer"),
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
