"""What the moves of one change do to stock and routing, applied together before the change ends.

A change of an order may make several moves. Their effects are collected, so that all stock rows that
they touch or choose from are locked by one ordered SELECT, and deadlocks cannot arise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from api.inserting import insert
from catalog.models import Variant
from fulfillments import explaining
from fulfillments.candidates import Market
from fulfillments.deadlines import capture_due_at, due_at
from fulfillments.models import Fulfillment, FulfillmentLine, Rejection, RoutingDecision
from fulfillments.routing import Part, Plan, Source, Want, plan
from fulfillments.states import State
from inventory.reservations import Ledger, Place

if TYPE_CHECKING:
    from orders.models import Order


@dataclass
class Effects:
    """Collected by moves; `apply` carries them out."""

    released: Counter[Place] = field(default_factory=Counter)
    taken_out: Counter[Place] = field(default_factory=Counter)
    emptied: set[Place] = field(default_factory=set)
    delisted: set[int] = field(default_factory=set)
    refused: Counter[int] = field(default_factory=Counter)

    def apply(self, order: Order, *, by: Actor) -> None:
        """Delist, release, take out and route again what was refused."""
        wants = self._wants(order)
        self._delist()
        touched = {variant for variant, _ in [*self.released, *self.taken_out, *self.emptied]}
        touched |= {candidate.variant_id for want in wants for candidate in want.candidates}
        if not touched:
            return
        ledger = Ledger.lock(touched)
        for place, quantity in self.released.items():
            ledger.release(place, quantity)
        for place, quantity in self.taken_out.items():
            ledger.take_out(place, quantity)
        for place in self.emptied:
            ledger.empty(place)
        if wants:
            route_again(order, wants, ledger, by=by)
        ledger.save()

    def _wants(self, order: Order) -> list[Want]:
        """What was refused and may go to another supplier; that of a pinned line has refused already."""
        if not self.refused:
            return []
        lines = list(order.lines.filter(pk__in=self.refused))
        market, refusals = Market(order.retailer_id, lines), _refusals(self.refused)
        return [
            Want(line.pk, self.refused[line.pk], market.candidates(line, refusals.get(line.pk, set())))
            for line in lines
        ]

    def _delist(self) -> None:
        """Locked in the order of their ids, before any stock row.

        Not their keys: a push that holds stock refers to them, and would wait for us while we wait for it.
        """
        if self.delisted:
            variants = Variant.objects.filter(pk__in=self.delisted)
            list(variants.order_by("pk").select_for_update(no_key=True).values_list("pk"))
            variants.update(listed=False, updated_at=Now())


def _refusals(line_ids: Iterable[int]) -> dict[int, set[int]]:
    """The suppliers that have refused each line; a wrong address is no refusal of the goods."""
    refused: dict[int, set[int]] = {}
    parts = FulfillmentLine.objects.filter(order_line_id__in=list(line_ids), rejected__gt=0)
    columns = parts.values_list("pk", "order_line_id", "fulfillment_id", "fulfillment__supplier_id")
    asked = {pk: (line_id, supplier_id) for pk, line_id, _, supplier_id in columns}
    rejections = Rejection.objects.filter(fulfillment_id__in={row[2] for row in columns})
    for items in rejections.exclude(reason=State.WRONG_ADDRESS).values_list("items", flat=True):
        for line_id, supplier_id in (asked[item["line"]] for item in items if item["line"] in asked):
            refused.setdefault(line_id, set()).add(supplier_id)
    return refused


def refused_for_address(order: Order) -> Counter[int]:
    """The pieces of each line that were refused for the address alone, and that nobody has now."""
    lines = order.lines.filter(rejected__gt=0)
    refused, pieces = {line.pk: line.rejected for line in lines}, Counter[int]()
    rejections = Rejection.objects.filter(fulfillment__order=order, reason=State.WRONG_ADDRESS)
    parts = dict(FulfillmentLine.objects.filter(order_line__in=refused).values_list("pk", "order_line_id"))
    for items in rejections.values_list("items", flat=True):
        for item in items:
            if item["line"] in parts:
                pieces[parts[item["line"]]] += item["quantity"]
    return Counter({line: min(count, refused[line]) for line, count in pieces.items()})


def route_again(order: Order, wants: list[Want], ledger: Ledger, *, by: Actor) -> None:
    """Give what was refused to the next supplier that has stock; what nobody has stays refused."""
    available = explaining.availability(ledger)
    willing = [
        Want(want.line, want.quantity, tuple(each for each in want.candidates if not each.refused))
        for want in wants
    ]
    chosen = plan(willing, ledger, allow_short=False)
    place(order, chosen.parts, by=by)
    keep_reasons(order, wants, chosen, available, cause="refused")


def keep_reasons(
    order: Order, wants: list[Want], chosen: Plan, available: dict[Place, int], *, cause: str
) -> None:
    """Keep the decision with its candidates, for whoever asks why."""
    lines = explaining.explain(wants, chosen, available)
    insert([RoutingDecision(order=order, cause=cause, lines=lines)])


def _fulfillment(order: Order, part: Part) -> Fulfillment:
    partnership, now = part.candidate.partnership, timezone.now()
    return Fulfillment(
        order=order,
        supplier_id=part.candidate.supplier_id,
        partnership=partnership,
        warehouse_id=part.warehouse_id,
        due_at=due_at(State.NEW, now, partnership, order.ship_until),
        capture_due_at=capture_due_at(now, partnership),
    )


def place(order: Order, parts: list[Part], *, by: Actor) -> list[Fulfillment]:
    """Make one fulfillment for each supplier and warehouse of the plan."""
    sources: dict[Source, Fulfillment] = {}
    for part in parts:
        if part.source not in sources:
            sources[part.source] = _fulfillment(order, part)
    made = list(sources.values())
    insert(made)
    insert(
        [
            FulfillmentLine(
                fulfillment_id=sources[part.source].pk,
                order_line_id=part.line,
                variant_id=part.candidate.variant_id,
                quantity=part.quantity,
                reserved=part.reserved,
            )
            for part in parts
        ]
    )
    for fulfillment in made:
        order.note("fulfillment.created", by=by, fulfillment=fulfillment)
    return made
