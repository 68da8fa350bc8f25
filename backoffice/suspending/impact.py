"""The impact of a suspension on trade and open work. Operators see it before they confirm the suspension."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import Partnership, Retailer, Supplier
from accounts.operating.admin_filters import FieldIs, list_url
from backoffice.suspending.services import Subject
from catalog.models import Variant
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import Order
from orders.processing_state import FINISHED, ProcessingState

MOST_COUNTED = 1_000
MOST_NAMED = 10

# For each state of open work, the moves that suppliers can still make.
OF_FULFILLMENTS = {
    State.NEW: "new: can still be captured, accepted and shipped",
    State.ACCEPTED: "accepted: can still be shipped",
    State.CANCELATION_NOT_ALLOWED: "kept by the supplier after a cancellation: can still be shipped",
    State.CANCELING: "cancellation requested: the supplier can still answer",
    State.WRONG_ADDRESS: "wrong address: continues once the address is corrected",
}


@dataclass(frozen=True)
class OpenWorkCount:
    """The number of open records in one state, and the moves that are still possible."""

    count: str
    meaning: str
    url: str


@dataclass(frozen=True)
class SuspensionImpact:
    """The partners that stop trading, the variants that disappear from pulls, and the open work."""

    partners: list[str]
    more_partners: int
    listed: str
    open_work: list[OpenWorkCount]


def impact_of(subject: Subject) -> SuspensionImpact:
    """Return the impact. Takes a fixed number of queries. Each query stops counting after MOST_COUNTED."""
    partners = _partners(subject)
    suppliers = {each.supplier_id for each in partners}
    listed = Variant.objects.filter(supplier__in=suppliers, listed=True)
    return SuspensionImpact(
        partners=[_other(subject, each) for each in partners[:MOST_NAMED]],
        more_partners=max(len(partners) - MOST_NAMED, 0),
        listed=_counted(listed),
        open_work=_of_orders(subject) if isinstance(subject, Retailer) else _of_fulfillments(subject),
    )


def _partners(subject: Subject) -> list[Partnership]:
    trading = Partnership.objects.trading().select_related("supplier", "retailer")
    if isinstance(subject, Partnership):
        return list(trading.filter(pk=subject.pk))
    return list(trading.filter(**{subject.role.value: subject}))


def _other(subject: Subject, partnership: Partnership) -> str:
    if isinstance(subject, Partnership):
        return str(partnership)
    return str(partnership.retailer if isinstance(subject, Supplier) else partnership.supplier)


def _of_fulfillments(subject: Supplier | Partnership) -> list[OpenWorkCount]:
    field = "partnership" if isinstance(subject, Partnership) else "supplier"
    of_subject = FieldIs(f"{field}__id", str(subject.pk))
    counts = []
    for state, meaning in OF_FULFILLMENTS.items():
        in_state = FieldIs("state", state)
        work = of_subject.narrow(in_state.narrow(Fulfillment.objects.all()))
        counts.append(OpenWorkCount(_counted(work), meaning, list_url(Fulfillment, [in_state, of_subject])))
    return [count for count in counts if count.count != "0"]


def _of_orders(retailer: Retailer) -> list[OpenWorkCount]:
    counts = []
    for state in ProcessingState:
        if state not in FINISHED:
            filters = [FieldIs("processing_state", state), FieldIs("retailer__id", str(retailer.pk))]
            orders = Order.objects.filter(retailer=retailer, processing_state=state)
            meaning = f"orders {state}: suppliers continue, and the retailer receives their answers"
            counts.append(OpenWorkCount(_counted(orders), meaning, list_url(Order, filters)))
    return [count for count in counts if count.count != "0"]


def _counted(rows: QuerySet[Variant] | QuerySet[Fulfillment] | QuerySet[Order]) -> str:
    count = rows.order_by()[: MOST_COUNTED + 1].count()
    return f"more than {MOST_COUNTED}" if count > MOST_COUNTED else str(count)
