"""A supplier's own scorecard, with links from each number to the counted orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from accounts.member_roles import Right
from accounts.models import Retailer
from api.exporting.cells import as_cell
from api.exporting.files import TYPES, as_file
from fastdb.standbys.reads import reads_from_standby
from fulfillments.scorecard import measures
from fulfillments.scorecard.performance import Days
from fulfillments.scorecard.selectors import Scorecard
from fulfillments.scorecard.shown import SHOWN_DAYS, chosen_days, shown_scorecard
from portal.buckets import MOST_COUNTED, WorkBucket
from portal.counted import counted_links
from portal.list_pages import FILE
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage
from portal.supplying.selectors import RETAILER, TABS, fulfillments_of, partner_of

DAILY = {
    "received": measures.CREATED,
    "accepted": measures.TO_ACCEPT,
    "shipped": measures.TO_SHIP,
    "refused": measures.REJECTED,
}
"""The columns of the file: the name of each count, and its measure."""


class PerformancePage(PortalPage):
    """The page of a supplier's scorecard for one or all retailers, compared with the previous days."""

    template = "portal/supplying/performance.html"
    section = title = "Performance"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS

    @property
    def days(self) -> int:
        return chosen_days(self.request.GET.get("days", ""))

    def chosen_retailer(self) -> Retailer | None:
        """Return the retailer that the URL names, or None for all retailers."""
        return partner_of(self.supplier, self.request.GET.get(RETAILER, ""))

    @reads_from_standby
    def get(self, request: HttpRequest, **kwargs: object) -> Any:
        kind = request.GET.get(FILE, "")
        if kind not in TYPES:
            return super().get(request)
        card = Scorecard.of(self.supplier, self.days, self.chosen_retailer())
        name = f"performance {timezone.now():%Y-%m-%d}"
        return as_file(name, ["day", *DAILY], _daily(card), kind)

    def context(self) -> dict[str, object]:
        retailer = self.chosen_retailer()
        ids = {"supplier_id": self.supplier.pk, "retailer_id": retailer.pk if retailer else 0}
        asked = {"days": self.days, RETAILER: retailer.pk if retailer else ""}
        return {
            "choices": SHOWN_DAYS,
            "partners": Retailer.objects.filter(partnerships__supplier=self.supplier).order_by("name"),
            "retailer": retailer,
            "links": counted_links("portal:supplier_orders", Days(self.days), **ids),
            "files": [(f"?{urlencode({**asked, FILE: kind})}", kind.upper()) for kind in TYPES],
            **shown_scorecard(self.supplier, self.days, retailer),
            "open_now": self._waiting("open", retailer),
            "late_now": self._waiting("late", retailer),
        }

    def _waiting(self, tab: str, retailer: Retailer | None) -> WorkBucket:
        """Count the orders of a tab of the list, so that the number and the linked list agree.

        The scorecard's own numbers also count held orders and late captures, which the list does not show.
        """
        name, condition = TABS[tab]
        waiting = fulfillments_of(self.supplier).filter(condition)
        asked = {"tab": tab}
        if retailer:
            waiting = waiting.filter(order__retailer=retailer)
            asked[RETAILER] = str(retailer.pk)
        ids = waiting.order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]
        return WorkBucket(name, [*ids], f"{reverse('portal:supplier_orders')}?{urlencode(asked)}", button="")


def _daily(card: Scorecard) -> Iterator[list[Any]]:
    for day, sums in card.days():
        yield [as_cell(day), *(sums[measure] for measure in DAILY.values())]
