"""The columns of the order list with values from the lines and fulfillments of each order."""

from __future__ import annotations

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Now
from django.db.models.lookups import IsNull

from fulfillments.models import CAPTURE_OVERDUE, HELD, Fulfillment
from fulfillments.states import State
from orders.addresses.units import refused_lines
from orders.models import Order, OrderLine
from orders.processing_state import FINISHED, ProcessingState


def with_columns(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Annotate each order with its units, amount, suppliers and problem.

    The subqueries run only for the orders on the page.
    """
    lines = OrderLine.objects.filter(order=OuterRef("pk")).order_by().values("order")
    work = Fulfillment.objects.filter(order=OuterRef("pk")).order_by()
    names = work.values("order").annotate(names=StringAgg("supplier__name", ", ", distinct=True))
    return orders.annotate(
        unit_count=Subquery(lines.annotate(sum=Sum("quantity")).values("sum")),
        billed=Subquery(lines.annotate(sum=Sum("billed_amount")).values("sum")),
        supplier_names=Subquery(names.values("names")),
        problem_words=_problem(work),
    )


def _problem(work: QuerySet[Fulfillment]) -> Case:
    """Return the expression for the first matching problem of an order, in the words that the desk uses."""
    late = work.filter(due_at__lte=Now()).exclude(HELD).exclude(state=State.CANCELING)
    uncaptured = work.filter(CAPTURE_OVERDUE).exclude(HELD)
    backordered = OrderLine.objects.filter(order=OuterRef("pk"), waiting_since__isnull=False).order_by()
    for_address = Subquery(refused_lines().filter(for_address__gt=0).values("pk")[:1])
    return Case(
        When(processing_state__in=FINISHED, then=Value("")),
        When(Exists(work.filter(state=State.WRONG_ADDRESS)), then=Value("Wrong address")),
        # A subquery reads the lines of one order. PostgreSQL may compute an Exists for all orders at once.
        When(IsNull(for_address, False), then=Value("Wrong address in part")),
        When(processing_state=ProcessingState.EXCEPTION, then=Value("Refused by all")),
        When(Exists(work.filter(state=State.CANCELING)), then=Value("Cancellation unanswered")),
        When(Exists(late), then=Value("Overdue")),
        When(Exists(uncaptured), then=Value("Not captured in time")),
        When(Q(has_unknown_country=True), then=Value("Unknown country")),
        When(Q(held=True), then=Value("Held")),
        When(Exists(backordered), then=Value("Backordered")),
        default=Value(""),
        output_field=CharField(),
    )
