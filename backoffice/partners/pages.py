"""The overview page of a partner, and the onboarding page."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.models import ApiKey, Retailer, Supplier
from accounts.operating.admin_base import operator_of
from accounts.scopes import Role
from backoffice.partners.forms import OnboardingForm, SupplierOnboardingForm
from backoffice.partners.onboarding import onboard
from backoffice.suspending.pages import suspension_context
from fulfillments.scorecard.selectors import Scorecard
from imports.models import AutoImport, ImportPolicy
from inventory.models import Warehouse
from sftp_ingest.models import RemoteHost, SftpLogin

PARTIES: dict[Role, type[Supplier] | type[Retailer]] = {Role.SUPPLIER: Supplier, Role.RETAILER: Retailer}
MOST = 100
"""Maximum number of partnerships and keys shown. Their lists show the rest."""

# The wizard needs the permission to add each record that it creates.
PERMISSIONS = ("accounts.add_{role}", "accounts.add_partnership", "accounts.add_apikey")
SUPPLIER_PERMISSIONS = ("inventory.add_warehouse", "sftp_ingest.add_sftplogin")


def onboarding_page(site: AdminSite, request: HttpRequest, role: Role) -> TemplateResponse:
    """Show the onboarding form, then the newcomer's secrets once."""
    needed = [each.format(role=role) for each in PERMISSIONS]
    needed += SUPPLIER_PERMISSIONS if role is Role.SUPPLIER else ()
    if not request.user.has_perms(needed):
        raise PermissionDenied
    form_class = SupplierOnboardingForm if role is Role.SUPPLIER else OnboardingForm
    form = form_class(request.POST or None)
    context = {**site.each_context(request), "role": role.value, "form": form}
    if request.method == "POST" and form.is_valid():
        newcomer = onboard(role, form.answers(), site=site, by=operator_of(request))
        # Render into this response: a message would keep the secrets in the session.
        context |= {"title": f"{newcomer.party} added", "newcomer": newcomer}
        headers = {"Cache-Control": "no-store"}
        return TemplateResponse(request, "admin/accounts/onboarded.html", context, headers=headers)
    context["title"] = f"Onboard {role}"
    return TemplateResponse(request, "admin/accounts/onboard.html", context)


def overview_page(site: AdminSite, request: HttpRequest, party_id: int, role: Role) -> TemplateResponse:
    """Show everything about a supplier or a retailer, with links to the pages that change it."""
    if not request.user.has_perm(f"accounts.view_{role}"):
        raise PermissionDenied
    party = PARTIES[role].objects.filter(pk=party_id).first()
    if party is None:
        raise Http404
    context = {
        **site.each_context(request),
        "title": str(party),
        "party": party,
        "role": role.value,
        "partnerships": party.partnerships.select_related("supplier", "retailer")[:MOST],
        "keys": _keys(party),
        "may_change": request.user.has_perm(f"accounts.change_{role}"),
        "may_suspend": request.user.has_perm(f"accounts.change_{role}"),
        **suspension_context(party),
    }
    if isinstance(party, Supplier):
        context |= _of_supplier(party)
    return TemplateResponse(request, "admin/accounts/overview.html", context)


def _keys(party: Supplier | Retailer) -> list[tuple[ApiKey, bool]]:
    """Return the newest keys, each with whether it is usable."""
    now = timezone.now()
    keys = ApiKey.objects.filter(**{party.role.value: party}).order_by("-id")[:MOST]
    return [(key, key.usable(at=now)) for key in keys]


def _of_supplier(supplier: Supplier) -> dict[str, Any]:
    return {
        "card": Scorecard.of(supplier, 30),
        "warehouses": Warehouse.objects.filter(supplier=supplier).order_by("id"),
        "login": SftpLogin.objects.filter(supplier=supplier).first(),
        "hosts": RemoteHost.objects.filter(supplier=supplier),
        "policy": ImportPolicy.objects.filter(supplier=supplier).first(),
        "automatic": AutoImport.objects.filter(supplier=supplier).order_by("kind"),
    }
