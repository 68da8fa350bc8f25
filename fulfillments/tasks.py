"""The Celery tasks of fulfillments. Each task reads its work from a table, so a missed call loses nothing."""

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
"""The time limit of one run. Other periodic tasks wait during a run, and the next run continues the work."""


@shared_task  # type: ignore[untyped-decorator]
def answer_cancelations() -> int:
    """Give the default answer to cancellation requests after their time limit, one order per transaction."""
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
                # The connection to the database is lost, so the answers for the other orders would fail too.
                raise
            logger.exception("fulfillment %s: giving the default answer failed", fulfillment.pk)
    return answered


@shared_task  # type: ignore[untyped-decorator]
def add_up_days() -> int:
    """Add new events to the daily sums of the scorecards."""
    return add_up(seconds=SECONDS)


@shared_task(name=running.RUN_TASK)  # type: ignore[untyped-decorator]
def run_simulation(simulation_id: int) -> None:
    """Advance a simulation for a few seconds, then queue the task again behind other work."""
    simulation = RoutingSimulation.objects.filter(pk=simulation_id, finished_at=None).first()
    if simulation is not None and not running.advance(simulation, seconds=running.SLICE):
        running.wake(simulation_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_simulations() -> None:
    """Wake a worker for each simulation that no worker runs."""
    for simulation_id in RoutingSimulation.unfinished():
        running.wake(simulation_id)
