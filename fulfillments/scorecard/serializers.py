from __future__ import annotations

from typing import NotRequired, TypedDict

from api.renderers import iso
from fulfillments.scorecard import measures
from fulfillments.scorecard.selectors import Scorecard, Times


class TimesJson(TypedDict):
    """Durations, counted on the day on which they ended. The median is an estimate."""

    count: int
    average_hours: float | None
    median_hours: float | None
    within_24_hours: int
    within_72_hours: int


class RefusalsJson(TypedDict):
    """Fulfillments with rejected units, by reason. Each fulfillment counts once for each reason."""

    out_of_stock: int
    missing_sku: int
    wrong_address: int


class CancellationsJson(TypedDict):
    """Cancellation requests and their answers.

    `unanswered` requests got the default answer after the time limit. If the retailer adds units to a request
    before the answer, the request counts once.
    """

    asked: int
    approved: int
    refused: int
    unanswered: int


class FeedJson(TypedDict):
    """The time at which a push or a file last reported the stock.

    `count` is the number of pushes and files that changed the stock in these days.
    """

    last_at: str | None
    age_hours: float | None
    count: int


class ScorecardDayJson(TypedDict):
    """One day, UTC."""

    date: str
    created: int
    accepted: int
    shipped: int
    refused: int


class ScorecardJson(TypedDict):
    """A supplier's results. A retailer gets the results for its own orders, the supplier for all orders."""

    supplier_id: int
    retailer_id: NotRequired[int]
    days: int
    first_day: str
    last_day: str
    fulfillments: int
    open_now: int
    overdue_now: int
    to_capture: TimesJson
    to_accept: TimesJson
    to_ship: TimesJson
    refusals: RefusalsJson
    refusal_rate: float | None
    cancellations: CancellationsJson
    doubtful_tracking_numbers: int
    feed: FeedJson
    by_day: list[ScorecardDayJson]


def scorecard_json(card: Scorecard) -> ScorecardJson:
    counts = card.counts
    body: ScorecardJson = {
        "supplier_id": card.supplier.pk,
        "days": len(card.by_day),
        "first_day": card.first.isoformat(),
        "last_day": card.last.isoformat(),
        "fulfillments": counts[measures.CREATED],
        "open_now": card.open_now,
        "overdue_now": card.overdue_now,
        "to_capture": _times(card.times[measures.TO_CAPTURE]),
        "to_accept": _times(card.times[measures.TO_ACCEPT]),
        "to_ship": _times(card.times[measures.TO_SHIP]),
        "refusals": {
            "out_of_stock": counts[measures.OUT_OF_STOCK],
            "missing_sku": counts[measures.MISSING_SKU],
            "wrong_address": counts[measures.WRONG_ADDRESS],
        },
        "refusal_rate": card.refusal_rate,
        "cancellations": {
            "asked": counts[measures.REQUESTED],
            "approved": counts[measures.APPROVED],
            "refused": counts[measures.REFUSED],
            "unanswered": counts[measures.UNANSWERED],
        },
        "doubtful_tracking_numbers": counts[measures.DOUBTFUL_TRACKING],
        "feed": {
            "last_at": iso(card.fed_at),
            "age_hours": card.feed_age_hours,
            "count": counts[measures.FEEDS],
        },
        "by_day": [
            {
                "date": day.isoformat(),
                "created": sums[measures.CREATED],
                "accepted": sums[measures.TO_ACCEPT],
                "shipped": sums[measures.TO_SHIP],
                "refused": sums[measures.REJECTED],
            }
            for day, sums in card.days()
        ],
    }
    if card.retailer is not None:
        body["retailer_id"] = card.retailer.pk
    return body


def _times(times: Times) -> TimesJson:
    return {
        "count": times.count,
        "average_hours": times.average_hours,
        "median_hours": times.median_hours,
        "within_24_hours": times.within(24),
        "within_72_hours": times.within(72),
    }
