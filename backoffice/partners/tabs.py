"""The page of a supplier or a retailer: tabs of registered panels, each tab with its own URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.models import Retailer, Supplier
from accounts.operating.record_panels import panels_of
from accounts.scopes import Role
from backoffice.suspending.pages import suspension_context

PARTIES: dict[Role, type[Supplier] | type[Retailer]] = {Role.SUPPLIER: Supplier, Role.RETAILER: Retailer}
OVERVIEW = "overview"
TABS = {
    OVERVIEW: "Overview",
    "orders": "Orders",
    "stock": "Stock",
    "files": "Files",
    "connections": "Connections",
    "terms": "Terms",
    "team": "Team",
    "history": "History",
}
"""The tabs of a partner. A tab without a panel is left out."""


@dataclass(frozen=True)
class Tab:
    """A tab as the template renders it."""

    label: str
    url: str
    is_current: bool


def partner_page(
    site: AdminSite, request: HttpRequest, party_id: int, role: Role, tab: str = OVERVIEW
) -> TemplateResponse:
    """Show one tab of a partner: the panels that apps registered for this tab."""
    if not request.user.has_perm(f"accounts.view_{role}"):
        raise PermissionDenied
    party = PARTIES[role].objects.filter(pk=party_id).first()
    if party is None:
        raise Http404
    panels = panels_of(type(party), request)
    filled = {each.panel.tab for each in panels}
    if tab not in filled:
        raise Http404
    rendered = [(each.panel, each(party)) for each in panels if each.panel.tab == tab]
    context = {
        **site.each_context(request),
        "title": str(party),
        "party": party,
        "role": role.value,
        "tabs": [Tab(TABS[name], tab_url(party, name), name == tab) for name in TABS if name in filled],
        "tab": tab,
        "panels": [(panel, html) for panel, html in rendered if html],
        "may_change": request.user.has_perm(f"accounts.change_{role}"),
        "change_url": reverse(f"admin:accounts_{role}_change", args=[party.pk]),
        **suspension_context(party),
    }
    context["may_suspend"] = context["may_change"]
    return TemplateResponse(request, "admin/partner/page.html", context)


def tab_url(party: Any, tab: str = OVERVIEW) -> str:
    """Return the URL of a tab of a supplier or a retailer."""
    return reverse(f"admin:accounts_{party.role}_{tab}", args=[party.pk])
