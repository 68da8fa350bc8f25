"""The work of a simulation: it replays orders, newest first, for a few seconds in each task.

The work writes only the row of the simulation.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from time import monotonic
from typing import cast

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from fastdb import leased
from fulfillments.models import RoutingDecision, RoutingSimulation
from fulfillments.simulating.replaying import SimulatedRule, as_recorded, concerns, replay
from fulfillments.simulating.summing import SimulationResultJson, add, nothing_yet

RUN_TASK = "fulfillments.tasks.run_simulation"
MOST = 100_000
"""The largest number of orders of one simulation."""
# A simulation works for AT_ONCE seconds in the operator's request, then for SLICE seconds in each task.
AT_ONCE = 1.0
SLICE = 4.0
PAGE = 100
# The last day of a simulation, because it computes the next day, and Python has no day after `date.max`.
LATEST = date.max - timedelta(days=1)
# Replay only decisions with this cause. Later decisions depend on rejections, which no decision stores.
PUSHED = "order.created"


def advance(simulation: RoutingSimulation, *, seconds: float) -> bool:
    """Run for some seconds. Return True if the simulation is finished, or if another worker runs it."""
    claimed = RoutingSimulation.claim(simulation.pk, leased.new_owner())
    simulation.refresh_from_db()
    if claimed is None:
        return True
    end = monotonic() + seconds
    try:
        if simulation.position is None:
            _begin(simulation)
        while not _one_page(simulation):
            if monotonic() > end:
                return False
    except leased.LeaseLost:
        pass  # another worker holds the simulation now, and continues it
    finally:
        simulation.release()
    return True


def wake(simulation_id: int) -> None:
    """Wake a worker to continue the simulation. `sweep_simulations` repeats a message that was lost."""
    leased.wake(RUN_TASK, simulation_id)


def _begin(simulation: RoutingSimulation) -> None:
    midnight = datetime.combine(simulation.first_day, time(), UTC)
    end = datetime.combine(min(simulation.last_day, LATEST) + timedelta(days=1), time(), UTC)
    simulation.first_number = first_since(midnight)
    simulation.begin_at = simulation.position = first_since(end)
    simulation.result = cast(dict[str, object], nothing_yet())
    names = ("first_number", "begin_at", "position", "result")
    if not simulation.held().update(**{name: getattr(simulation, name) for name in names}):
        raise leased.LeaseLost


def first_since(moment: datetime) -> int:
    """Return the id of the first decision since `moment`, by bisection, because ids grow with time."""
    decisions = RoutingDecision.objects.order_by("pk").values_list("pk", "decided_at")
    last = decisions.last()
    first = decisions.first()
    if first is None or last is None:
        return 1
    low, high = first[0], last[0] + 1
    while low < high:
        middle = (low + high) // 2
        decision = decisions.filter(pk__gte=middle).first()
        if decision is None or decision[1] >= moment:
            high = middle
        else:
            low = decision[0] + 1
    return low


def _decisions(simulation: RoutingSimulation) -> QuerySet[RoutingDecision]:
    rows = RoutingDecision.objects.filter(
        pk__lt=simulation.position, pk__gte=simulation.first_number, cause=PUSHED
    )
    if simulation.retailer_id:
        rows = rows.filter(order__retailer_id=simulation.retailer_id)
    return rows.select_related("order").only("lines", "order__retailer_order_id").order_by("-pk")


def _one_page(simulation: RoutingSimulation) -> bool:
    """Replay the next page of orders. Return whether the simulation is over."""
    result = cast(SimulationResultJson, simulation.result)
    rule = rule_of(simulation)
    left = simulation.most - result["orders"]
    page = list(_decisions(simulation)[: min(PAGE, left)]) if left > 0 else []
    for decision in page:
        _replay(result, decision, rule)
        simulation.position = decision.pk
    stopped = RoutingSimulation.objects.filter(pk=simulation.pk, stopped_at__isnull=False).exists()
    over = stopped or len(page) < PAGE
    simulation.finished_at = timezone.now() if over else None
    progress = {"position": simulation.position, "result": result, "finished_at": simulation.finished_at}
    if not simulation.held().update(**progress, lease_until=Now() + simulation.LEASE):
        raise leased.LeaseLost
    return over


def rule_of(simulation: RoutingSimulation) -> SimulatedRule:
    """Return a simulation's rule. `held_back` is the simulated safety stock less the present safety stock."""
    present = simulation.supplier.safety_stock
    held_back = 0 if simulation.safety_stock is None else simulation.safety_stock - present
    return SimulatedRule(simulation.supplier_id, simulation.priority, held_back, simulation.left_out)


def _replay(result: SimulationResultJson, decision: RoutingDecision, rule: SimulatedRule) -> None:
    result["orders"] += 1
    before = replay(decision.lines)
    complete = not any(line.get("not_shown") for line in decision.lines)
    if not complete or before.sources != as_recorded(decision.lines):
        result["unlike"] += 1
        return
    after = replay(decision.lines, rule) if concerns(decision.lines, rule) else before
    add(result, decision.order_id, decision.order.retailer_order_id, before, after)
