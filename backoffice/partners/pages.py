"""A partner on one page, and the wizard that lets one in."""

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
from backoffice.partners.forms import LetInForm, LetSupplierInForm
from backoffice.partners.letting_in import let_in
from backoffice.suspending.pages import suspension_context
from fulfillments.scorecard.selectors import Scorecard
from imports.models import AutoImport, ImportPolicy
from inventory.models import Warehouse
from sftp_ingest.models import RemoteHost, SftpLogin

PARTIES: dict[Role, type[Supplier] | type[Retailer]] = {Role.SUPPLIER: Supplier, Role.RETAILER: Retailer}
MOST = 100
"""Partnerships and keys that are shown; the rest is a link away."""

# What the wizard makes needs the right to make each of it.
MADE = ("accounts.add_{role}", "accounts.add_partnership", "accounts.add_apikey")
MADE_OF_SUPPLIERS = ("inventory.add_warehouse", "sftp_ingest.add_sftplogin")


def let_in_page(site: AdminSite, request: HttpRequest, role: Role) -> TemplateResponse:
    """Ask all that is needed on one page; then show once what the newcomer needs."""
    needed = [each.format(role=role) for each in MADE]
    needed += MADE_OF_SUPPLIERS if role is Role.SUPPLIER else ()
    if not request.user.has_perms(needed):
        raise PermissionDenied
    asked = LetSupplierInForm if role is Role.SUPPLIER else LetInForm
    form = asked(request.POST or None)
    context = {**site.each_context(request), "role": role.value, "form": form}
    if request.method == "POST" and form.is_valid():
        newcomer = let_in(role, form.answers(), site=site, by=operator_of(request))
        # Rendered into this very answer: a message would lie in the session until it is read.
        context |= {"title": f"{newcomer.party} is let in", "newcomer": newcomer}
        headers = {"Cache-Control": "no-store"}
        return TemplateResponse(request, "admin/accounts/let_in_done.html", context, headers=headers)
    context["title"] = f"Let a {role} in"
    return TemplateResponse(request, "admin/accounts/let_in.html", context)


def overview_page(site: AdminSite, request: HttpRequest, party_id: int, role: Role) -> TemplateResponse:
    """What there is of a supplier or a retailer, each with a link to where it is changed."""
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
    """The newest, each with whether it still opens anything."""
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
