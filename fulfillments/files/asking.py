"""The `asked_at` of a fulfillment: the time of the request that the supplier should answer (contract 17).

A request is for the work or for a cancellation. A row of a file with an older `asked_at` answers a request
that is no longer open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from django.db.models import Max, Q

from api.errors import Invalid
from api.renderers import iso
from events.models import Event
from fulfillments import states
from fulfillments.states import CANCELING, WORKABLE

# Each of these events requests the work from the supplier, for the first time or again.
# `fulfillment.extended` occurs only before the capture, so the supplier has not yet read an earlier request.
ASKED_FOR_WORK = Q(
    type__in=(
        *("fulfillment.created", "fulfillment.extended", "fulfillment.address_corrected"),
        states.REFUSE_CANCELATION.event,
    )
) | Q(type=states.CORRECT_ADDRESS.event, to_state=states.CORRECT_ADDRESS.target)
ASKED_FOR_CANCELATION = Q(type=states.REQUEST_CANCELATION.event)

MICROSECOND = timedelta(microseconds=1)
LAST_DIGITS = re.compile(r"\d\d:\d\d(:\d\d)?(?:\.(\d+))?")


class Asked(Protocol):
    """A model instance or a row of a query, with the fields that determine a fulfillment's open request."""

    @property
    def id(self) -> int: ...
    @property
    def order_id(self) -> int: ...
    @property
    def state(self) -> str: ...


def asked_at(fulfillments: Iterable[Asked]) -> Mapping[int, datetime]:
    """Return the time of each fulfillment's open request, by the fulfillment's id. Takes one query."""
    state_of = {each.id: each.state for each in fulfillments}
    orders = {each.order_id for each in fulfillments}
    events = Event.objects.filter(
        ASKED_FOR_WORK | ASKED_FOR_CANCELATION, order_id__in=orders, fulfillment_id__in=state_of
    )
    found = events.values_list("fulfillment_id").annotate(
        for_work=Max("occurred_at", filter=ASKED_FOR_WORK),
        for_cancelation=Max("occurred_at", filter=ASKED_FOR_CANCELATION),
    )
    return {
        pk: moment
        for pk, for_work, for_cancelation in found.order_by()
        if (moment := for_cancelation if state_of[pk] == CANCELING else for_work) is not None
    }


@dataclass(frozen=True)
class AskedAt:
    """The `asked_at` in a row of a file, with its precision.

    The precision is needed because a spreadsheet may have removed the last digits or the seconds.
    """

    moment: datetime
    precision: timedelta

    @classmethod
    def read(cls, text: str) -> AskedAt:
        """Parse the date and time in a cell. Raises Invalid for any other text."""
        shown = LAST_DIGITS.search(text)
        try:
            moment = datetime.fromisoformat(text)
            aware = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):  # the conversion to UTC can leave the range of dates
            aware = None
        if aware is None or shown is None:
            message = (
                f"{text[:40]!r} is no moment such as 2030-01-31T12:00:00.000000Z. Copy asked_at from "
                "orders/new.csv or orders/canceling.csv, in a column formatted as text."
            )
            raise Invalid.at("asked_at", message)
        seconds = 1.0 if shown[1] else 60.0
        precision = timedelta(seconds=10.0 ** -len(shown[2]) if shown[2] else seconds)
        return cls(aware, max(precision, MICROSECOND))

    @property
    def is_exact(self) -> bool:
        return self.precision <= MICROSECOND

    def is_before(self, moment: datetime) -> bool:
        return moment - self.moment >= self.precision

    def is_after(self, moment: datetime) -> bool:
        return self.moment > moment

    def covers(self, moment: datetime) -> bool:
        return not self.is_before(moment) and not self.is_after(moment)

    def __str__(self) -> str:
        return iso(self.moment)


def refuse_outdated(fulfillment: Asked, given: Iterable[str]) -> None:
    """Raise Invalid if a row does not answer the request that is open now."""
    moments = [AskedAt.read(text) for text in given if text]
    if not moments or fulfillment.state not in (*WORKABLE, CANCELING):
        return
    now = asked_at([fulfillment]).get(fulfillment.id)
    if now is None:
        return
    if late := next((each for each in moments if each.is_after(now)), None):
        # A user probably sorted one column without the other columns, so this `asked_at` belongs to another
        # row.
        message = f"{late} is the asked_at of another row: this row has {iso(now)}. Copy the row again."
        raise Invalid.at("asked_at", message)
    outdated = next((each for each in moments if each.is_before(now)), None)
    if outdated is None:
        return
    canceling = fulfillment.state == CANCELING
    name, state = ("canceling.csv" if canceling else "new.csv"), str(fulfillment.state)
    raise Invalid.at(
        "asked_at",
        f"This row answers the request of {outdated}, but a newer request came at {iso(now)}, and the "
        f"fulfillment is '{state}' now. Read orders/{name} and answer the open request.",
        "outdated",
    )
