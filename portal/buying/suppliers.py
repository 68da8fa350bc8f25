"""A retailer's pages of its suppliers: partnerships, terms and scorecards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.template.defaultfilters import pluralize

from accounts.member_roles import Right
from accounts.models import Partnership, Supplier, WhenShort
from accounts.scopes import Role
from fulfillments.scorecard.performance import Days, Performance, performances
from fulfillments.scorecard.shown import SHOWN_DAYS, chosen_days, shown_scorecard
from portal.counted import counted_links
from portal.navigation import ONLY_RETAILERS
from portal.pages import PortalPage, PortalRecordPage

MOST = 500
"""The maximum number of suppliers in the list."""
ORDERS = "portal:retailer_orders"


@dataclass(frozen=True)
class ScoredPartner:
    """A partnership with the supplier's performance for this retailer."""

    partnership: Partnership
    performance: Performance
    links: dict[str, str]

    @property
    def supplier(self) -> Supplier:
        return self.partnership.supplier

    @property
    def state(self) -> str:
        return state_of(self.partnership)


def state_of(partnership: Partnership) -> str:
    """Return the state of a partnership as pages show it."""
    if not partnership.is_active:
        return "ended"
    return "trading" if partnership.is_trading else "suspended"


class SuppliersPage(PortalPage):
    """The suppliers of a retailer, with their performance in the chosen number of days."""

    template = "portal/buying/suppliers.html"
    section = title = "Suppliers"
    sides = ONLY_RETAILERS
    right = Right.ORDERS

    def context(self) -> dict[str, object]:
        own = self.retailer.partnerships.select_related("supplier").order_by("supplier__name", "pk")
        days = Days(chosen_days(self.request.GET.get("days", "")))
        found = performances(Role.SUPPLIER, days, retailer_id=self.retailer.pk)
        return {
            "days": days,
            "choices": SHOWN_DAYS,
            "partners": [
                ScoredPartner(
                    each, found.get(each.supplier_id, Performance()), self._links(days, each.supplier_id)
                )
                for each in own[:MOST]
            ],
        }

    def _links(self, days: Days, supplier_id: int) -> dict[str, str]:
        return counted_links(ORDERS, days, supplier_id=supplier_id, retailer_id=self.retailer.pk)


class SupplierPage(PortalRecordPage):
    """One supplier: the terms of the partnership, and the scorecard for this retailer's orders."""

    template = "portal/buying/supplier.html"
    section = "Suppliers"
    sides = ONLY_RETAILERS
    right = Right.ORDERS
    record: Partnership

    def of_party(self) -> QuerySet[Any]:
        return self.retailer.partnerships.select_related("supplier")

    def context(self) -> dict[str, object]:
        supplier = self.record.supplier
        count = chosen_days(self.request.GET.get("days", ""))
        ids = {"supplier_id": supplier.pk, "retailer_id": self.retailer.pk}
        return {
            "title": supplier.name,
            "state": state_of(self.record),
            "terms": list(terms_of(self.record)),
            "choices": SHOWN_DAYS,
            "links": counted_links(ORDERS, Days(count), **ids),
            **shown_scorecard(supplier, count, self.retailer),
        }


def terms_of(partnership: Partnership) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the terms that concern the retailer."""
    yield "Sells as", ", ".join(partnership.service_types)
    yield "Currency", partnership.supplier.currency
    yield "Most units of a product in an order", f"{partnership.max_units_per_line:,}"
    yield "Units that are not in stock", _when_short(partnership)
    yield "Time to capture", _hours(partnership.hours_to_capture)
    yield "Time to accept", _hours(partnership.hours_to_accept)
    yield "Time to ship", _hours(partnership.hours_to_ship)
    yield "Time to answer a cancellation", _hours(partnership.hours_to_answer)
    yield "Unanswered cancellation", _sentence(partnership.get_cancelation_default_display())
    yield "Cancellation before capture", _sentence(partnership.get_cancel_before_capture_display())
    yield "Longest wait for stock", _days(partnership.max_wait_days)
    yield "Orders to an unknown country", "refused" if partnership.strict_addresses else "accepted"


def _when_short(partnership: Partnership) -> str:
    when_short = WhenShort(partnership.when_short)
    return _sentence(when_short.with_partner(refuses_short=partnership.refuse_short_orders).label)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _hours(hours: int | None) -> str:
    return "no limit" if hours is None else f"{hours} hour{pluralize(hours)}"


def _days(days: int | None) -> str:
    return "no limit" if days is None else f"{days} day{pluralize(days)}"
