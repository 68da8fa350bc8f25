"""What a change writes beyond the fulfillments that it moves: stock, listings, and new fulfillments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from api.errors import InvalidTransition
from catalog.models import Variant, VariantChange
from fastdb.inserts import insert
from fastdb.updates import update
from fulfillments.backorder_claims import share_of_new
from fulfillments.change import Change
from fulfillments.deadlines import capture_due_at, due_at
from fulfillments.effects import Effects
from fulfillments.models import Capture, Fulfillment, FulfillmentLine, RoutingDecision
from fulfillments.planning import explaining
from fulfillments.planning.candidates import Market
from fulfillments.planning.routing import Allocation, Candidate, Place, Plan, Want, plan
from fulfillments.refusals import refusals_of
from fulfillments.states import WORKABLE, State
from inventory.models import MovementKind
from inventory.reservations import Cause, LockedStock, Stock, StockKey


def apply_effects(effects: Effects, change: Change) -> None:
    """Delist, release, take out and route again what was refused."""
    wants = _wants(effects, change)
    joinable = lock_joinable(change) if wants else {}
    _delist(effects.delisted, by=change.by)
    touched = {each.stock_key[0] for each in effects.stock}
    touched |= {candidate.variant_id for want in wants for candidate in want.candidates}
    if not touched:
        return
    needed = [each.stock_key for each in effects.stock if each.kind == MovementKind.RETURN]
    stock = LockedStock.lock(touched, by=change.by, needed=needed)
    for each in effects.stock:
        each.apply(stock, change.order_id)
    if wants:
        _route_again(change, wants, stock, joinable, effects.sent_to)
    stock.save()


def _wants(effects: Effects, change: Change) -> list[Want]:
    """What was refused and may go elsewhere; a pinned line to another warehouse of its supplier."""
    if not effects.refused:
        return []
    lines = change.lines_in(effects.refused)
    market = Market.of(change.retailer_id, lines, country_known=change.country_known)
    refusals = refusals_of(effects.refused)
    return [
        Want(
            line.id,
            effects.refused[line.id],
            _sent_to(effects.sent_to.get(line.id), market.candidates(line, refusals[line.id].suppliers)),
            frozenset(refusals[line.id].places),
        )
        for line in lines
    ]


def _sent_to(supplier_id: int | None, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those of one supplier, where an operator chose it."""
    return tuple(each for each in candidates if supplier_id in (None, each.supplier_id))


DELISTED = {"listed": {"from": True, "to": False}}


def _delist(variant_ids: set[int], *, by: Actor) -> None:
    """Locked in the order of their ids, before any stock row.

    Not their keys: a push that holds stock refers to them, and would wait for us while we wait for it.
    """
    if variant_ids:
        variants = Variant.objects.filter(pk__in=variant_ids)
        locked = variants.order_by("pk").select_for_update(no_key=True).values_list("pk", "listed")
        gone = [pk for pk, listed in locked if listed]
        variants.update(listed=False, updated_at=Now())
        VariantChange.objects.bulk_create(VariantChange.by(pk, DELISTED, by) for pk in gone)


def lock_joinable(change: Change) -> dict[Place, Fulfillment]:
    """The order's fulfillments that nobody has seen yet: what goes to the same place can be put into them.

    Locked so that they cannot be captured meanwhile: to capture is to insert a row that refers to them.
    """
    unseen = Fulfillment.objects.filter(order_id=change.order_id, state=State.NEW, capture=None).order_by(
        "pk"
    )
    locked = list(Fulfillment.objects.filter(pk__in=unseen.values("pk")).order_by("pk").select_for_update())
    captured = set(Capture.objects.filter(pk__in=[each.pk for each in locked]).values_list("pk", flat=True))
    return {(each.supplier_id, each.warehouse_id): each for each in locked if each.pk not in captured}


def _route_again(
    change: Change,
    wants: list[Want],
    stock: LockedStock,
    joinable: Mapping[Place, Fulfillment],
    sent_to: Collection[int],
) -> None:
    """Give what was refused to the next place that has stock; what nobody has stays refused.

    Raises InvalidTransition where what an operator sends elsewhere would stay.
    """
    available = share_of_new(change, stock).left
    chosen = plan(wants, available, allow_short=False, joining=joinable.keys())
    stays = sum(chosen.unfilled.get(line, 0) for line in sent_to)
    if stays:
        raise InvalidTransition(
            f"Of what is to be sent elsewhere nobody there has stock for {stays} pieces; nothing was changed."
        )
    create_fulfillments(change, chosen.allocations, stock, joinable)
    keep_reasons(change, wants, chosen, available, cause="sent elsewhere" if sent_to else "refused")


def keep_reasons(
    change: Change, wants: list[Want], chosen: Plan, available: dict[StockKey, int], *, cause: str
) -> None:
    """Keep the decision with its candidates, for whoever asks why."""
    lines = explaining.explain(wants, chosen, available)
    insert([RoutingDecision(order_id=change.order_id, cause=cause, lines=lines)])


def create_fulfillments(
    change: Change,
    allocations: Sequence[Allocation],
    stock: Stock,
    joinable: Mapping[Place, Fulfillment] = MappingProxyType({}),
    contested: Collection[StockKey] = (),
) -> None:
    """Make one fulfillment for each place of the plan, or put its pieces into the one that is there.

    Their pieces are set aside. What joins a fulfillment has lines of its own: what was agreed for the
    pieces that are in it stays, and what comes later is of its own moment.
    What is short of a contested stock row stands behind those it is owed to.
    """
    fulfillments: dict[Place, Fulfillment] = {}
    for allocation in allocations:
        if allocation.place not in fulfillments:
            fulfillments[allocation.place] = joinable.get(allocation.place) or _fulfillment(
                change, allocation
            )
    joined = [each for each in fulfillments.values() if each.pk is not None]
    insert([each for each in fulfillments.values() if each.pk is None])
    insert(
        [
            FulfillmentLine(
                fulfillment_id=fulfillments[allocation.place].pk,
                order_line_id=allocation.line,
                variant_id=allocation.candidate.variant_id,
                quantity=allocation.quantity,
                reserved=allocation.reserved,
                **allocation.candidate.agreed._asdict(),
                behind=allocation.stock_key in contested,
            )
            for allocation in allocations
        ]
    )
    for allocation in allocations:
        cause = Cause(change.order_id, fulfillments[allocation.place].pk)
        stock.reserve(allocation.stock_key, allocation.reserved, cause)
    if joined:
        Fulfillment.objects.filter(pk__in=[each.pk for each in joined]).update(updated_at=Now())
    for fulfillment in fulfillments.values():
        type_ = "fulfillment.extended" if fulfillment in joined else "fulfillment.created"
        change.record(type_, fulfillment=fulfillment)


def renew_limits(change: Change) -> None:
    """Give the order's suppliers their time anew: while the order was held they could do nothing."""
    now = timezone.now()
    work = list(
        Fulfillment.objects.filter(order_id=change.order_id, state__in=WORKABLE)
        .order_by("pk")
        .select_for_update(of=("self",), no_key=True)
        .select_related("partnership")
    )
    for each in work:
        each.due_at = due_at(each.state, now, each.partnership, change.ship_until)
        if each.state == State.NEW:
            each.capture_due_at = capture_due_at(now, each.partnership)
        each.updated_at = now
    update(work, ["due_at", "capture_due_at", "updated_at"])


def _fulfillment(change: Change, allocation: Allocation) -> Fulfillment:
    partnership, now = allocation.candidate.partnership, timezone.now()
    return Fulfillment(
        order_id=change.order_id,
        supplier_id=allocation.candidate.supplier_id,
        partnership_id=partnership.id,
        warehouse_id=allocation.warehouse_id,
        due_at=due_at(State.NEW, now, partnership, change.ship_until),
        capture_due_at=capture_due_at(now, partnership),
    )
