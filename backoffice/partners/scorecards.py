"""The scorecard page of a supplier: the API's scorecard, with charts."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString

from accounts.models import Retailer, Supplier
from backoffice.charts import Series, bar_chart
from fulfillments.scorecard import measures
from fulfillments.scorecard.selectors import Scorecard

DAYS = (30, 90)
TITLES = {
    measures.TO_CAPTURE: "Order to capture",
    measures.TO_ACCEPT: "Order to acceptance",
    measures.TO_SHIP: "Order to complete shipment",
}


def scorecard_page(site: AdminSite, request: HttpRequest, supplier_id: int) -> TemplateResponse:
    """Show the scorecard for `?days=30` or 90, of all partners or of `?retailer=`."""
    if not request.user.has_perm("accounts.view_supplier"):
        raise PermissionDenied
    supplier = Supplier.objects.filter(pk=supplier_id).first()
    if supplier is None:
        raise Http404
    partners = Retailer.objects.filter(partnerships__supplier=supplier)
    asked = request.GET.get("retailer", "")
    retailer = partners.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < 19 else None
    days = next((each for each in DAYS if request.GET.get("days") == str(each)), DAYS[0])
    card = Scorecard.of(supplier, days, retailer)
    context = {
        **site.each_context(request),
        "title": f"Scorecard: {supplier}",
        "supplier": supplier,
        "card": card,
        "days": days,
        "choices": DAYS,
        "partners": partners,
        "times": [(TITLES[name], card.times[name]) for name in measures.TIMES],
        "counts": card.counts,
        "refused_percent": None if card.refusal_rate is None else 100 * card.refusal_rate,
        "charts": charts(card),
    }
    return TemplateResponse(request, "admin/accounts/scorecard.html", context)


def charts(card: Scorecard) -> list[SafeString]:
    """Draw fulfillments by day, times of each step, and refusals by day and reason."""
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
