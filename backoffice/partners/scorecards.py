"""The scorecard pages.

A supplier's page has the numbers of the API's scorecard, with charts. A retailer's page ranks its suppliers.
"""

from __future__ import annotations

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from backoffice.partners.performance import counted_links, ranked_rows
from fulfillments.models import PerformanceTarget
from fulfillments.scorecard.performance import Days, performances, total
from fulfillments.scorecard.shown import SHOWN_DAYS, chosen_days, shown_scorecard


def scorecard_page(site: AdminSite, request: HttpRequest, supplier_id: int) -> TemplateResponse:
    """Show a supplier's scorecard for `?days=30` or 90. `?retailer=` limits the scorecard to one retailer."""
    if not request.user.has_perm("accounts.view_supplier"):
        raise PermissionDenied
    supplier = Supplier.objects.filter(pk=supplier_id).first()
    if supplier is None:
        raise Http404
    partners = Retailer.objects.filter(partnerships__supplier=supplier)
    asked = request.GET.get("retailer", "")
    retailer = partners.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < 19 else None
    days = chosen_days(request.GET.get("days", ""))
    context = {
        **site.each_context(request),
        "title": f"Scorecard: {supplier}",
        "choices": SHOWN_DAYS,
        "partners": partners,
        **shown_scorecard(supplier, days, retailer),
        "links": counted_links(Days(days), **_ids(supplier, retailer)),
    }
    return TemplateResponse(request, "admin/accounts/scorecard.html", context)


def _ids(supplier: Supplier, retailer: Retailer | None) -> dict[str, int]:
    return {"supplier_id": supplier.pk, **({"retailer_id": retailer.pk} if retailer else {})}


class DaysForm(forms.Form):
    """The form that chooses the days of a retailer's scorecard."""

    days = forms.TypedChoiceField(
        choices=[(days, f"last {days}") for days in SHOWN_DAYS], coerce=int, required=False
    )


def retailer_scorecard_page(site: AdminSite, request: HttpRequest, retailer_id: int) -> TemplateResponse:
    """Show the sums of a retailer's orders for `?days=30` or 90, and the ranking of its suppliers."""
    if not request.user.has_perms(["accounts.view_retailer", "accounts.view_supplier"]):
        raise PermissionDenied
    retailer = Retailer.objects.filter(pk=retailer_id).first()
    if retailer is None:
        raise Http404
    days = Days(chosen_days(request.GET.get("days", "")))
    ids = {"retailer_id": retailer.pk}
    found = performances(Role.SUPPLIER, days, **ids)
    context = {
        **site.each_context(request),
        "title": f"Scorecard: {retailer}",
        "retailer": retailer,
        "form": DaysForm({"days": days.count}),
        "days": days,
        "performance": total(found.values()),
        "links": counted_links(days, **ids),
        "rows": [*ranked_rows(Role.SUPPLIER, days, found, ids)],
        "role": Role.SUPPLIER.value,
        "target": PerformanceTarget.common(),
    }
    return TemplateResponse(request, "admin/accounts/retailer_scorecard.html", context)
