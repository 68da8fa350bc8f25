"""The onboarding page, and the page with the secrets of a new partner."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import slugify

from accounts.operating.admin_actions import sent_form_id
from accounts.operating.admin_base import operator_of
from accounts.scopes import Role
from backoffice.partners.forms import OnboardingForm, SupplierOnboardingForm
from backoffice.partners.handover import SECONDS, Handover, seal, unseal
from backoffice.partners.onboarding import onboard

# The wizard needs the permission to add each record that it creates.
PERMISSIONS = ("accounts.add_{role}", "accounts.add_partnership", "accounts.add_apikey")
SUPPLIER_PERMISSIONS = ("inventory.add_warehouse", "sftp_ingest.add_sftplogin")
SECRET = {"Cache-Control": "no-store"}
SENT = "This form was already sent, and was done only once. To onboard another partner, open a new form."
TAKEN = "Another form created a record with one of these names at the same moment. Send this form again."


def onboarding_page(site: AdminSite, request: HttpRequest, role: Role) -> HttpResponse:
    """Show the onboarding form. Create the partner, then redirect to the page with its secrets."""
    _check(request, role)
    form_class = SupplierOnboardingForm if role is Role.SUPPLIER else OnboardingForm
    form = form_class(request.POST or None)
    token = str(sent_form_id(request.POST.dict()) or "")
    if token and unseal(token, _user_id(request)):  # the form was sent before; perhaps its answer was lost
        messages.warning(request, SENT)
        return HttpResponseRedirect(_url(role, "onboarded", token))
    if request.method == "POST" and form.is_valid():
        try:
            newcomer = onboard(role, form.answers(), site=site, by=operator_of(request))
        except IntegrityError:
            form.add_error(None, TAKEN)
        else:
            return _handed_over(site, request, Handover.of(newcomer), token)
    context = {**site.each_context(request), "role": role.value, "form": form, "title": f"Onboard {role}"}
    return TemplateResponse(request, "admin/accounts/onboard.html", context)


def _handed_over(site: AdminSite, request: HttpRequest, handover: Handover, token: str) -> HttpResponse:
    """Redirect to the page with the secrets. Without a cache, show the secrets in this answer."""
    if sealed := seal(handover, _user_id(request), token):
        return HttpResponseRedirect(_url(Role(handover.role), "onboarded", sealed))
    return _secrets(site, request, handover)


def onboarded_page(site: AdminSite, request: HttpRequest, role: Role, token: str) -> HttpResponse:
    """Show the secrets again to the operator who onboarded the partner, for ten minutes."""
    handover = _unsealed(request, role, token)
    return _secrets(site, request, handover, token) if handover else _too_late(request, role)


def handover_file(site: AdminSite, request: HttpRequest, role: Role, token: str) -> HttpResponse:
    """Download all secrets as one text file for the partner."""
    handover = _unsealed(request, role, token)
    if handover is None:
        return _too_late(request, role)
    name = f"{slugify(handover.name) or role.value}-access.txt"
    headers = {**SECRET, "Content-Disposition": f'attachment; filename="{name}"'}
    text = handover.as_text(request.build_absolute_uri("/").rstrip("/"))
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


def _secrets(site: AdminSite, request: HttpRequest, handover: Handover, token: str = "") -> TemplateResponse:
    context: dict[str, object] = {
        **site.each_context(request),
        "title": f"{handover.name} added",
        "handover": handover,
        "file_url": _url(Role(handover.role), "handover", token) if token else "",
        "minutes": SECONDS // 60,
        "page_url": reverse(f"admin:accounts_{handover.role}_overview", args=[handover.party_id]),
        "invite_url": reverse(f"admin:accounts_{handover.role}_do", args=[handover.party_id, "invite"]),
    }
    return TemplateResponse(request, "admin/accounts/onboarded.html", context, headers=SECRET)


def _unsealed(request: HttpRequest, role: Role, token: str) -> Handover | None:
    _check(request, role)
    handover = unseal(token, _user_id(request))
    return handover if handover and handover.role == role.value else None


def _too_late(request: HttpRequest, role: Role) -> HttpResponse:
    messages.error(
        request,
        "The secrets are shown for ten minutes, and only to the operator who onboarded the partner. "
        "Rotate the key and set a new SFTP password instead.",
    )
    return HttpResponseRedirect(reverse(f"admin:accounts_{role}_changelist"))


def _check(request: HttpRequest, role: Role) -> None:
    needed = [each.format(role=role) for each in PERMISSIONS]
    needed += SUPPLIER_PERMISSIONS if role is Role.SUPPLIER else ()
    if not request.user.has_perms(needed):
        raise PermissionDenied


def _user_id(request: HttpRequest) -> int:
    assert request.user.pk is not None  # _check has refused anonymous users
    return int(request.user.pk)


def _url(role: Role, view: str, token: str) -> str:
    return reverse(f"admin:accounts_{role}_{view}", args=[token])
