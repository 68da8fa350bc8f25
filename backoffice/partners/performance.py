"""The ranking of suppliers or retailers by their performance, as a page and as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from api.exporting.cells import Cell
from api.exporting.files import as_file
from backoffice.partners.tabs import PARTIES
from fulfillments.admin.filters import COUNTED_EVENTS, Counted
from fulfillments.models import PerformanceTarget
from fulfillments.scorecard.performance import Days, Performance, performances, ranked, total

DAYS = ((7, "7 days"), (30, "30 days"), (90, "90 days"))
USUAL = 30
COLUMNS = (
    *("rank", "party_id", "name", "received", "received_change_percent", "shipped", "late"),
    *("on_time_percent", "on_time_goal_percent", "on_time_change", "refused", "refused_percent"),
    *("refused_goal_percent", "refused_change"),
)


class PerformanceForm(forms.Form):
    """The filters of the ranking."""

    of = forms.ChoiceField(
        choices=[(Role.SUPPLIER.value, "Suppliers"), (Role.RETAILER.value, "Retailers")],
        required=False,
        label="Ranking of",
    )
    days = forms.TypedChoiceField(choices=DAYS, coerce=int, required=False, label="Days")
    retailer = forms.ModelChoiceField(
        Retailer.objects.order_by("name"), required=False, empty_label="all", label="Orders of retailer"
    )
    supplier = forms.ModelChoiceField(
        Supplier.objects.order_by("name"), required=False, empty_label="all", label="Orders at supplier"
    )


@dataclass(frozen=True)
class Ranked:
    """A row of the ranking. For each number, `links` has the URL of the list of the counted fulfillments."""

    position: int
    party: Supplier | Retailer
    performance: Performance
    links: dict[str, str]

    @property
    def url(self) -> str:
        return reverse(f"admin:accounts_{self.party.role.value}_scorecard", args=[self.party.pk])

    def cells(self) -> list[Cell]:
        """Return the row of the CSV file, in the order of COLUMNS. An unknown rate is empty."""
        now, performance = self.performance.now, self.performance
        values = (
            *(self.position, self.party.pk, self.party.name),
            *(now.received, performance.more_received, now.shipped, now.late),
            *(now.on_time_percent, now.on_time_goal, performance.on_time_change),
            *(now.refused, now.refused_percent, now.refused_goal, performance.refused_change),
        )
        return ["" if value is None else value for value in values]


def performance_page(site: AdminSite, request: HttpRequest, kind: str = "") -> HttpResponseBase:
    """Show the ranking, or send it as CSV."""
    if not request.user.has_perms(["accounts.view_supplier", "accounts.view_retailer"]):
        raise PermissionDenied
    form = PerformanceForm({"of": Role.SUPPLIER.value, "days": USUAL, **request.GET.dict()})
    form.full_clean()
    asked = form.cleaned_data
    role = Role(asked.get("of") or Role.SUPPLIER)
    days = Days(asked.get("days") or USUAL)
    ids = {f"{name}_id": asked[name].pk for name in ("supplier", "retailer") if asked.get(name)}
    found = performances(role, days, **ids)
    rows = [*ranked_rows(role, days, found, ids)]
    if kind:
        name = f"performance of {role}s {days.first} to {days.last}"
        return as_file(name, COLUMNS, (row.cells() for row in rows), kind)
    context = {
        **site.each_context(request),
        "title": "Performance",
        "form": form,
        "role": role.value,
        "rows": rows,
        "days": days,
        "whole": total(found.values()),
        "links": counted_links(days, **ids),
        "target": PerformanceTarget.common(),
        "csv_url": f"{reverse('admin:performance_csv')}?{urlencode(request.GET)}",
    }
    return TemplateResponse(request, "admin/performance.html", context)


def counted_links(days: Days, *, supplier_id: int = 0, retailer_id: int = 0) -> dict[str, str]:
    """Return, for each number of a scorecard, the URL of the list of the counted fulfillments."""
    return {
        count: Counted(count, days.first, days.last, supplier_id, retailer_id).url for count in COUNTED_EVENTS
    }


def ranked_rows(
    role: Role, days: Days, found: dict[int, Performance], ids: dict[str, int]
) -> Iterator[Ranked]:
    """Yield the rows of the ranking, the best first. Takes one query."""
    parties = PARTIES[role].objects.in_bulk([*found])
    for position, (party_id, performance) in enumerate(ranked(found), start=1):
        of_row = {**ids, f"{role}_id": party_id}
        yield Ranked(position, parties[party_id], performance, counted_links(days, **of_row))
