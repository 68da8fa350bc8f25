"""The reason why an order of a supplier is late, in words."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.template.defaultfilters import pluralize

from fulfillments.models import Fulfillment
from fulfillments.states import State

STEPS = {
    State.NEW: ("accept it", "hours_to_accept"),
    State.CANCELATION_NOT_ALLOWED: ("accept it again", "hours_to_accept"),
    State.ACCEPTED: ("ship it", "hours_to_ship"),
    State.CANCELING: ("answer the cancellation", "hours_to_answer"),
}
"""For each state, the supplier's next step, and the field of the partnership with the step's time limit."""
CAPTURE = ("capture or accept it", "hours_to_capture")
"""The step of a new order whose limit to capture comes before its limit to accept."""


def why_late(fulfillment: Fulfillment) -> str:
    """Return a text with the late step, its time limit, and the reason for the limit."""
    due = fulfillment.next_due_at
    step, name = STEPS[State(fulfillment.state)] if due == fulfillment.due_at else CAPTURE
    limit = f"You had to {step} by {due:%-d %b %Y, %H:%M}."
    last_day = fulfillment.order.ship_until
    if last_day and last_day < date.max and due == _end_of(last_day):
        return f"{limit} {fulfillment.order.retailer} wants the order shipped until {last_day:%-d %b %Y}."
    hours = getattr(fulfillment.partnership, name)
    if not hours:
        return limit
    return f"{limit} {fulfillment.order.retailer} gives you {hours} hour{pluralize(hours)} for this step."


def _end_of(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)
