"""Celery shells: each looks through its table, so that a call that was missed is harmless."""

import logging

from celery import shared_task
from django.db import connection

from accounts.actors import Actor
from api.errors import ApiError
from fulfillments.models import Fulfillment, RoutingSimulation
from fulfillments.scorecard.sums import add_up
from fulfillments.simulating import running

logger = logging.getLogger(__name__)

SECONDS = 5.0
"""Other ticks wait behind it; what is left then comes with the next one."""


@shared_task  # type: ignore[untyped-decorator]
def answer_cancelations() -> int:
    """Give the default answer to cancellations that were not answered in time, one order after the other."""
    late = Fulfillment.objects.with_unanswered_cancelation().select_related("order", "partnership")
    answered = 0
    for fulfillment in late.order_by("due_at")[:1000]:
        try:
            with fulfillment.order.change(by=Actor.system("cancelation time limit")) as change:
                fulfillment.answer_by_default(change)
            answered += 1
        except ApiError as error:
            logger.warning("fulfillment %s: %s", fulfillment.pk, error.message)
        except Exception:
            if not connection.is_usable():
                raise  # without a database no other can be answered either
            logger.exception("fulfillment %s: its default answer could not be given", fulfillment.pk)
    return answered


@shared_task  # type: ignore[untyped-decorator]
def add_up_days() -> int:
    """Add what has happened to the sums that scorecards are made of."""
    return add_up(seconds=SECONDS)


@shared_task(name=running.RUN_TASK)  # type: ignore[untyped-decorator]
def run_simulation(simulation_id: int) -> None:
    """Go on with a simulation for a few seconds, then stand at the queue's end again."""
    simulation = RoutingSimulation.objects.filter(pk=simulation_id, finished_at=None).first()
    if simulation is not None and not running.advance(simulation, seconds=running.SLICE):
        running.wake(simulation_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_simulations() -> None:
    """Find what no worker has."""
    for simulation_id in running.unfinished():
        running.wake(simulation_id)
