"""The values of a scorecard for pages: tables, charts, and numbers compared with the days before."""

from __future__ import annotations

from typing import Any

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from fastdb.standbys.reads import reads_from_standby
from fulfillments.scorecard import measures
from fulfillments.scorecard.charts import TITLES, charts
from fulfillments.scorecard.performance import Days, Performance, performances
from fulfillments.scorecard.selectors import Scorecard

SHOWN_DAYS = (30, 90)
COUNTED = {measures.TO_ACCEPT: "accepted", measures.TO_SHIP: "shipped"}
"""The time measures whose count links to a list of fulfillments, with the key of this link in `links`.

TO_CAPTURE has no link, because this list is filtered by events, and captures are not events.
"""


def chosen_days(text: str) -> int:
    """Return the number of days in a page's parameter, or the default for any other text."""
    return next((days for days in SHOWN_DAYS if text == str(days)), SHOWN_DAYS[0])


@reads_from_standby
def shown_scorecard(supplier: Supplier, days: int, retailer: Retailer | None = None) -> dict[str, Any]:
    """Return the values of `scorecard_tables.html` and `performance_numbers.html`, except `links`."""
    card = Scorecard.of(supplier, days, retailer)
    ids = {"supplier_id": supplier.pk, "retailer_id": retailer.pk if retailer else None}
    found = performances(Role.SUPPLIER, Days(days), **ids)
    return {
        "supplier": supplier,
        "card": card,
        "days": days,
        "times": [(TITLES[name], card.times[name], COUNTED.get(name, "")) for name in measures.TIMES],
        "counts": card.counts,
        "charts": charts(card),
        "performance": found.get(supplier.pk, Performance()),
    }
