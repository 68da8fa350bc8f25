"""The charts of a scorecard."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import SafeString

from fulfillments.scorecard import measures
from fulfillments.scorecard.selectors import Scorecard
from ui.charts import Series, bar_chart

TITLES = {
    measures.TO_CAPTURE: "Order to capture",
    measures.TO_ACCEPT: "Order to acceptance",
    measures.TO_SHIP: "Order to complete shipment",
}


def charts(card: Scorecard) -> list[SafeString]:
    """Draw the fulfillments by day, the durations of each step, and the refusals by day and reason."""
    names = [f"{day:%-d %b}" for day, _ in card.days()]

    def by_day(measure: str, name: str) -> Series:
        return Series(name, [sums[measure] for _, sums in card.days()])

    drawn: list[Any] = [
        bar_chart(
            "Fulfillments by day",
            names,
            [by_day(measures.CREATED, "received"), by_day(measures.TO_SHIP, "shipped")],
        ),
        *(
            bar_chart(title, measures.bucket_names(), [Series("fulfillments", card.times[name].buckets)])
            for name, title in TITLES.items()
        ),
        bar_chart(
            "Refusals by day and reason",
            names,
            [by_day(name, name.replace("_", " ")) for name in measures.REFUSALS],
        ),
    ]
    return drawn
