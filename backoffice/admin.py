"""Admin pages of parties, partnerships and API keys. Each change is recorded as an event."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

import backoffice.contacts.admin
import backoffice.contacts.messages_admin
import backoffice.digests.admin
import backoffice.members_admin
import backoffice.operators
import backoffice.parts_admin  # noqa: F401 - registers their pages
from accounts.models import ApiKey, Partnership, Retailer, Supplier
from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.forms import ApiKeyForm
from accounts.scopes import Role
from backoffice.partners.currency import ACTION as CHANGE_CURRENCY
from backoffice.partners.forms import PartnershipForm
from backoffice.partners.lists import PartnerList
from backoffice.partners.packing_slips import partnership_slip_page, retailer_slip_page
from backoffice.partners.pages import handover_file, onboarded_page, onboarding_page
from backoffice.partners.scorecards import retailer_scorecard_page, scorecard_page
from backoffice.partners.tabs import TABS, partner_page, tab_url
from backoffice.suspending.pages import SuspendableAdmin
from events.admin_base import RecordedAdmin
from events.models import ACCOUNTS
from portal.connections.key_actions import ACTIONS
from portal.team.actions import INVITE


class PartyAdmin(ActingFormAdmin[Any], SuspendableAdmin[Any]):
    """The admin of a party. Parties cannot be deleted, because orders, stock and history refer to them."""

    search_fields = ("name",)
    change_form_template = "admin/accounts/suspendable.html"
    record_actions = (INVITE, CHANGE_CURRENCY)
    change_list_template = "admin/accounts/party_list.html"
    changelist_class = PartnerList
    role: ClassVar[Role]

    @admin.display(description="trouble")
    def trouble(self, party: object) -> str:
        """Return the party's trouble in words. Exports show a dash: only list pages set `party.trouble`."""
        return str(getattr(party, "trouble", None) or "–")

    def get_urls(self) -> list[URLPattern]:
        site, name = self.admin_site, f"accounts_{self.role}"
        onboarding, onboarded, handover = (
            site.admin_view(partial(view, site, role=self.role))
            for view in (onboarding_page, onboarded_page, handover_file)
        )
        tabs = [
            path(
                f"<int:party_id>/{tab}/",
                site.admin_view(partial(partner_page, site, role=self.role, tab=tab)),
                name=f"{name}_{tab}",
            )
            for tab in TABS
        ]
        return [
            path("onboard/", onboarding, name=f"{name}_onboard"),
            path("onboarded/<str:token>/", onboarded, name=f"{name}_onboarded"),
            path("onboarded/<str:token>/access.txt", handover, name=f"{name}_handover"),
            *tabs,
            *super().get_urls(),
        ]

    def panels(self, request: HttpRequest, obj: object) -> list[Any]:
        """Return no panel: the panels of a party are on the tabs of its own page."""
        return []

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        """Make the currency of a stored party read-only: an action with a preview changes it."""
        return (*super().get_readonly_fields(request, obj), *(["currency"] if obj else []))

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def event_fields(self, party: Supplier | Retailer) -> dict[str, object]:
        return {"area": ACCOUNTS, party.role.value: party, "data": {"name": party.name}}

    def after_action(self, request: HttpRequest, record: object, after: str) -> HttpResponse:
        """Show the link of a new invitation. The link cannot be shown again: only a digest is stored."""
        link = getattr(record, "fresh_link", "")
        if not link:
            return super().after_action(request, record, after)
        shown = {"title": "Member invited", "link": link, "back": tab_url(record, "team")}
        context = {**self._context(request, record), **shown}
        return TemplateResponse(request, "admin/accounts/invited.html", context)


@admin.register(Supplier)
class SupplierAdmin(PartyAdmin):
    event_subject = "supplier"
    role = Role.SUPPLIER
    list_display = ("name", "trouble", "currency", "priority", "safety_stock", "created_at", "id")
    list_display_links = ("name",)

    def get_urls(self) -> list[URLPattern]:
        card = self.admin_site.admin_view(partial(scorecard_page, self.admin_site))
        own = path("<int:supplier_id>/scorecard/", card, name="accounts_supplier_scorecard")
        return [own, *super().get_urls()]


@admin.register(Retailer)
class RetailerAdmin(PartyAdmin):
    event_subject = "retailer"
    role = Role.RETAILER
    list_display = ("name", "trouble", "currency", "created_at", "id")
    list_display_links = ("name",)

    def get_urls(self) -> list[URLPattern]:
        slip = self.admin_site.admin_view(partial(retailer_slip_page, self.admin_site))
        card = self.admin_site.admin_view(partial(retailer_scorecard_page, self.admin_site))
        own = [
            path("<int:retailer_id>/packing-slip/", slip, name="accounts_retailer_packing_slip"),
            path("<int:retailer_id>/scorecard/", card, name="accounts_retailer_scorecard"),
        ]
        return [*own, *super().get_urls()]


@admin.register(Partnership)
class PartnershipAdmin(SuspendableAdmin[Partnership]):
    event_subject = "partnership"
    form = PartnershipForm
    fieldsets = PartnershipForm.fieldsets
    list_display = ("retailer", "supplier", "retailer_erp_id", "service_types", "is_active", "is_trading")
    list_filter = ("is_active", "refuse_short_orders")
    list_select_related = ("retailer", "supplier")
    search_fields = ("retailer__name", "supplier__name", "retailer_erp_id")
    autocomplete_fields = ("supplier", "retailer")

    def get_urls(self) -> list[URLPattern]:
        slip = self.admin_site.admin_view(partial(partnership_slip_page, self.admin_site))
        own = path("<int:partnership_id>/packing-slip/", slip, name="accounts_partnership_packing_slip")
        return [own, *super().get_urls()]

    def get_readonly_fields(self, request: HttpRequest, obj: Partnership | None = None) -> tuple[str, ...]:
        """Make the parties of a stored partnership read-only: its fulfillments belong to them."""
        return (*super().get_readonly_fields(request, obj), *(("retailer", "supplier") if obj else ()))

    def has_delete_permission(self, request: HttpRequest, obj: Partnership | None = None) -> bool:
        return False

    def event_fields(self, partnership: Partnership) -> dict[str, object]:
        data = {"service_types": partnership.service_types, "is_active": partnership.is_active}
        parties = {"supplier": partnership.supplier, "retailer": partnership.retailer}
        return {"area": ACCOUNTS, **parties, "data": data}


class KeyStateFilter(admin.SimpleListFilter):
    """A filter for keys that are usable, or for keys that are expired or revoked."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("usable", "Usable"), ("ended", "Expired or revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        usable = ApiKey.objects.usable(at=timezone.now()).values("pk")
        if self.value() == "usable":
            return queryset.filter(pk__in=usable)
        return queryset.exclude(pk__in=usable) if self.value() == "ended" else queryset


@admin.register(ApiKey)
class ApiKeyAdmin(ActingFormAdmin[ApiKey], RecordedAdmin[ApiKey]):
    """The admin of API keys: issue, rotate, revoke. A secret is shown once; only its digest is stored."""

    event_subject = "api_key"
    form = ApiKeyForm
    list_display = ("name", "prefix", "party", "expires_at", "revoked_at", "last_used_at")
    list_filter = (KeyStateFilter,)
    list_select_related = ("supplier", "retailer")
    search_fields = ("name", "prefix", "supplier__name", "retailer__name")
    autocomplete_fields = ("supplier", "retailer")
    readonly_fields = ("prefix", "created_at", "last_used_at", "revoked_at")
    record_actions = ACTIONS
    acts_with = ("supplier", "retailer")

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        """Make the party of a stored key read-only."""
        return (*self.readonly_fields, "supplier", "retailer") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool) -> None:
        if not change:
            request.fresh_secret = obj.make_secret()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def event_fields(self, key: ApiKey) -> dict[str, object]:
        data = {"name": key.name, "prefix": key.prefix}
        return {"area": ACCOUNTS, key.role.value: key.party, "data": data}

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._show_once(request, "Key issued", [(obj, request.fresh_secret)])  # type: ignore[attr-defined]

    def after_action(self, request: HttpRequest, record: ApiKey, after: str) -> HttpResponse:
        """Show the secret of a rotated key once, instead of redirecting."""
        fresh = getattr(record, "fresh", None)
        return (
            self._show_once(request, "Key rotated", fresh)
            if fresh
            else super().after_action(request, record, after)
        )

    def _show_once(
        self, request: HttpRequest, title: str, fresh: list[tuple[ApiKey, str]]
    ) -> TemplateResponse:
        # Show the secret in this response: a message would store it in a cookie or in the session.
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "fresh": fresh}
        page = "admin/accounts/secret.html"
        return TemplateResponse(request, page, context, headers={"Cache-Control": "no-store"})
