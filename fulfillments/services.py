"""The writes of an order's change that are not moves: stock, listings, new fulfillments and time limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

from django.db.models import F, Max, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from api.errors import InvalidTransition
from catalog.models import Variant, VariantChange
from events.models import Event
from fastdb.inserts import insert
from fastdb.updates import update
from fulfillments.change import Change
from fulfillments.deadlines import capture_due_at, due_at
from fulfillments.effects import Effects
from fulfillments.models import Capture, Fulfillment, FulfillmentLine, RoutingDecision
from fulfillments.models.line import agreed_total_of_lines
from fulfillments.planning import explaining
from fulfillments.planning.candidates import Market
from fulfillments.planning.routing import Allocation, Candidate, Plan, Want, WarehouseKey, plan
from fulfillments.refusals import refusals_of
from fulfillments.states import UNFINISHED, WORKABLE, State
from fulfillments.stock_for_backorders import stock_left_for_new
from inventory.expecting import expect
from inventory.models import MovementKind
from inventory.reservations import Cause, LockedStock, Stock, StockKey


def apply_effects(effects: Effects, change: Change) -> None:
    """Delist variants, write stock, route rejected units again, and save restock dates."""
    wants = _wants(effects, change)
    joinable = lock_joinable(change) if wants else {}
    _delist(effects.delisted, by=change.by)
    touched = {effect.stock_key[0] for effect in effects.stock}
    touched |= {candidate.variant_id for want in wants for candidate in want.candidates}
    if not touched:
        return
    needed = [effect.stock_key for effect in effects.stock if effect.kind == MovementKind.RETURN]
    stock = LockedStock.lock(touched, by=change.by, needed=needed)
    for effect in effects.stock:
        effect.apply(stock, change.order_id)
    if wants:
        _route_again(change, wants, stock, joinable, effects.reassigned_to)
    stock.save()
    expect(effects.expected)


def _wants(effects: Effects, change: Change) -> list[Want]:
    """Return the wants of rejected units.

    A line whose supplier the retailer named may go to other warehouses of this supplier.
    """
    if not effects.rejected:
        return []
    lines = change.lines_in(effects.rejected)
    market = Market.of_open_order(change.retailer_id, lines, country_known=change.country_known)
    refusals = refusals_of(effects.rejected)
    return [
        Want(
            line.id,
            effects.rejected[line.id],
            _candidates_of(
                effects.reassigned_to.get(line.id), market.candidates(line, refusals[line.id].suppliers)
            ),
            frozenset(refusals[line.id].warehouses),
        )
        for line in lines
    ]


def _candidates_of(supplier_id: int | None, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Keep the candidates of the supplier that an operator chose. None keeps all candidates."""
    return tuple(candidate for candidate in candidates if supplier_id in (None, candidate.supplier_id))


DELISTED = {"listed": {"from": True, "to": False}}


def _delist(variant_ids: set[int], *, by: Actor) -> None:
    """Delist the variants. Lock them in the order of their ids, before any stock row.

    `no_key` avoids a deadlock: a push that has locked stock rows needs a key lock on the variants.
    """
    if variant_ids:
        variants = Variant.objects.filter(pk__in=variant_ids)
        locked = variants.order_by("pk").select_for_update(no_key=True).values_list("pk", "listed")
        delisted = [pk for pk, listed in locked if listed]
        variants.update(listed=False, updated_at=Now())
        VariantChange.objects.bulk_create(VariantChange.by(pk, DELISTED, by) for pk in delisted)


def lock_joinable(change: Change) -> dict[WarehouseKey, Fulfillment]:
    """Lock and return the order's uncaptured fulfillments. New units from the same warehouse can join them.

    A fulfillment is left out if its supplier has another currency now. While the lock is held, the
    fulfillment cannot be captured, because a capture inserts a row that refers to the fulfillment.
    """
    new = Fulfillment.objects.filter(order_id=change.order_id, state=State.NEW, capture=None).order_by("pk")
    new = new.filter(currency=F("supplier__currency"))
    locked = list(Fulfillment.objects.filter(pk__in=new.values("pk")).order_by("pk").select_for_update())
    captured = set(Capture.objects.filter(pk__in=[work.pk for work in locked]).values_list("pk", flat=True))
    return {(work.supplier_id, work.warehouse_id): work for work in locked if work.pk not in captured}


def _route_again(
    change: Change,
    wants: list[Want],
    stock: LockedStock,
    joinable: Mapping[WarehouseKey, Fulfillment],
    reassigned: Collection[int],
) -> None:
    """Route rejected units to other warehouses with stock. Units that no warehouse has stay rejected.

    Raises InvalidTransition unless the warehouses have all units that an operator reassigns.
    """
    available = stock_left_for_new(change, stock).units
    chosen = plan(wants, available, allow_short=False, joining=joinable.keys())
    missing = sum(chosen.unfilled.get(line, 0) for line in reassigned)
    if missing:
        raise InvalidTransition(
            f"No other supplier has stock for {missing} of the units to reassign; nothing was changed."
        )
    create_fulfillments(change, chosen.allocations, stock, joinable)
    save_routing_decision(change, wants, chosen, available, cause="reassigned" if reassigned else "refused")


def save_routing_decision(
    change: Change, wants: list[Want], chosen: Plan, available: dict[StockKey, int], *, cause: str
) -> None:
    """Save the routing decision with its candidates and reasons, for operators and retailers."""
    lines = explaining.explain(wants, chosen, available)
    insert([RoutingDecision(order_id=change.order_id, cause=cause, lines=lines)])


def create_fulfillments(
    change: Change,
    allocations: Sequence[Allocation],
    stock: Stock,
    joinable: Mapping[WarehouseKey, Fulfillment] = MappingProxyType({}),
    contested: Collection[StockKey] = (),
) -> None:
    """Reserve the allocated units, and add them to one fulfillment for each warehouse.

    If `joinable` has no fulfillment of the warehouse, create one. Units that join a fulfillment get new lines
    with the values agreed now; existing lines keep their values. Lines from a stock row in `contested` are
    marked as `behind`: unrouted lines of older orders get arriving stock of this row first.
    """
    fulfillments: dict[WarehouseKey, Fulfillment] = {}
    for allocation in allocations:
        if allocation.warehouse not in fulfillments:
            fulfillments[allocation.warehouse] = joinable.get(allocation.warehouse) or _fulfillment(
                change, allocation, _agreed_total(allocations, allocation.warehouse)
            )
    joined = [work for work in fulfillments.values() if work.pk is not None]
    insert([work for work in fulfillments.values() if work.pk is None])
    insert(
        [
            FulfillmentLine(
                fulfillment_id=fulfillments[allocation.warehouse].pk,
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
        cause = Cause(change.order_id, fulfillments[allocation.warehouse].pk)
        stock.reserve(allocation.stock_key, allocation.reserved, cause)
    if joined:
        changed = {"updated_at": Now(), "agreed_total": agreed_total_of_lines()}
        Fulfillment.objects.filter(pk__in=[work.pk for work in joined]).update(**changed)
    for fulfillment in fulfillments.values():
        type_ = "fulfillment.extended" if fulfillment in joined else "fulfillment.created"
        change.record(type_, fulfillment=fulfillment)


def lock_unfinished(change: Change, *, before_captures: bool = False) -> list[Fulfillment]:
    """Lock and return the order's fulfillments that have open units.

    With `before_captures`, new captures wait for the end of the change: a capture inserts a row that refers
    to the fulfillment.
    """
    return list(
        Fulfillment.objects.filter(order_id=change.order_id, state__in=UNFINISHED)
        .order_by("pk")
        .select_for_update(of=("self",), no_key=not before_captures)
        .select_related("partnership")
    )


def tell_suppliers(
    change: Change,
    unfinished: list[Fulfillment],
    event: str,
    data: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Record an event for each of these fulfillments, and set their `updated_at` to now."""
    now = timezone.now()
    for fulfillment in unfinished:
        fulfillment.updated_at = now
        change.record(event, fulfillment=fulfillment, data=dict(data))
    update(unfinished, ["updated_at"])


def restart_time_limits(change: Change, unfinished: list[Fulfillment]) -> None:
    """Restart the time limits of open work, because suppliers could not work while the order was held."""
    now = timezone.now()
    workable = [fulfillment for fulfillment in unfinished if fulfillment.state in WORKABLE]
    for fulfillment in workable:
        partnership = fulfillment.partnership
        fulfillment.due_at = due_at(fulfillment.state, now, partnership, change.ship_until)
        if fulfillment.state == State.NEW:
            fulfillment.capture_due_at = capture_due_at(now, partnership)
    update(workable, ["due_at", "capture_due_at"])


def move_deadlines(change: Change, unfinished: list[Fulfillment]) -> None:
    """Compute the time limits again for the order's new `ship_until`.

    The partnership's hours still count from the last change of state, or from the last release.
    """
    begun = _state_begun(change)
    workable = [fulfillment for fulfillment in unfinished if fulfillment.state in WORKABLE]
    for fulfillment in workable:
        since = begun.get(fulfillment.pk, fulfillment.created_at)
        fulfillment.due_at = due_at(fulfillment.state, since, fulfillment.partnership, change.ship_until)
    update(workable, ["due_at"])


def _state_begun(change: Change) -> dict[int, datetime]:
    """Return the start of each fulfillment's time limit: the last change of state, or a later release."""
    moves = Event.objects.filter(order_id=change.order_id, fulfillment_id__isnull=False)
    moves = moves.filter(~Q(from_state=F("to_state")) | Q(type="fulfillment.released"))
    return dict(moves.order_by().values_list("fulfillment_id").annotate(Max("occurred_at")))


def let_capture_again(unfinished: list[Fulfillment]) -> None:
    """Mark the captures of these fulfillments as outdated, so that the supplier captures them again."""
    captures = Capture.objects.filter(pk__in=[fulfillment.pk for fulfillment in unfinished])
    locked = captures.order_by("pk").select_for_update().values_list("pk", flat=True)
    Capture.objects.filter(pk__in=list(locked)).update(outdated=True)


def _agreed_total(allocations: Sequence[Allocation], warehouse: WarehouseKey) -> Decimal | None:
    """Return the sum of the agreed prices of a new fulfillment's units, or None without any price."""
    prices = [
        (allocation.candidate.agreed.wholesale_price, allocation.quantity)
        for allocation in allocations
        if allocation.warehouse == warehouse
    ]
    priced = [price * quantity for price, quantity in prices if price is not None]
    return sum(priced, Decimal()) if priced else None


def _fulfillment(change: Change, allocation: Allocation, agreed_total: Decimal | None) -> Fulfillment:
    partnership, now = allocation.candidate.partnership, timezone.now()
    return Fulfillment(
        order_id=change.order_id,
        supplier_id=allocation.candidate.supplier_id,
        partnership_id=partnership.id,
        warehouse_id=allocation.warehouse_id,
        currency=partnership.currency,
        agreed_total=agreed_total,
        due_at=due_at(State.NEW, now, partnership, change.ship_until),
        capture_due_at=capture_due_at(now, partnership),
    )
