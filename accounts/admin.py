"""Parties, their partnerships and keys, for operators."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.forms import ApiKeyForm
from accounts.models import AccessToken, ApiKey, IdempotencyKey, Partnership, Retailer, Supplier
from accounts.reading import ReadOnlyAdmin


class PartnershipInline(admin.TabularInline[Partnership, Any]):
    model = Partnership
    extra = 0
    autocomplete_fields = ("supplier", "retailer")
    can_delete = False


class PartyAdmin(admin.ModelAdmin[Any]):
    """Parties stay: orders, stock and history name them. Revoking keys keeps one out."""

    search_fields = ("name",)
    inlines = (PartnershipInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Supplier)
class SupplierAdmin(PartyAdmin):
    list_display = ("id", "name", "priority", "safety_stock", "created_at")
    list_display_links = ("id", "name")


@admin.register(Retailer)
class RetailerAdmin(PartyAdmin):
    list_display = ("id", "name", "created_at")
    list_display_links = ("id", "name")


@admin.register(Partnership)
class PartnershipAdmin(admin.ModelAdmin[Partnership]):
    list_display = ("retailer", "supplier", "retailer_erp_id", "service_types", "is_active")
    list_filter = ("is_active", "refuse_short_orders")
    list_select_related = ("retailer", "supplier")
    search_fields = ("retailer__name", "supplier__name", "retailer_erp_id")
    autocomplete_fields = ("supplier", "retailer")

    def has_delete_permission(self, request: HttpRequest, obj: Partnership | None = None) -> bool:
        return False


class StateFilter(admin.SimpleListFilter):
    """Whether a key still opens anything."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("usable", "Usable"), ("ended", "Expired or revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        ended = Q(revoked_at__isnull=False) | Q(expires_at__lte=timezone.now())
        if self.value() == "usable":
            return queryset.exclude(ended)
        return queryset.filter(ended) if self.value() == "ended" else queryset


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    """Issue, rotate, revoke. A secret is on one page, once; only its digest is kept, and shown nowhere."""

    form = ApiKeyForm
    list_display = ("name", "prefix", "party", "expires_at", "revoked_at", "last_used_at")
    list_filter = (StateFilter,)
    list_select_related = ("supplier", "retailer")
    search_fields = ("name", "prefix", "supplier__name", "retailer__name")
    autocomplete_fields = ("supplier", "retailer")
    readonly_fields = ("prefix", "created_at", "last_used_at", "revoked_at")
    actions = ("rotate", "revoke")

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        """A key's party is for good."""
        return (*self.readonly_fields, "supplier", "retailer") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool) -> None:
        if change:
            obj.save(update_fields=form.changed_data)
        else:
            secret = obj.make_secret()
            obj.save()
            request.fresh_secret = secret  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._show_once(request, "Key issued", [(obj, request.fresh_secret)])  # type: ignore[attr-defined]

    @admin.action(description="Rotate: issue successors, end these in 24 hours", permissions=["change"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        usable = [key for key in queryset if key.usable(at=timezone.now())]
        if not usable:
            messages.error(request, "None of these keys is valid any more; issue a new one instead.")
            return None
        fresh = [key.rotate() for key in usable]
        for key, _ in fresh:
            self.log_addition(request, key, "Issued as the successor of a rotated key.")
        return self._show_once(request, "Keys rotated", fresh)

    @admin.action(description="Revoke at once", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            key.revoke()
            self.log_change(request, key, "Revoked.")
        messages.success(request, f"{len(queryset)} revoked; their tokens ended with them.")

    def _show_once(
        self, request: HttpRequest, title: str, fresh: list[tuple[ApiKey, str]]
    ) -> TemplateResponse:
        # Rendered into this very answer: a message would lie in a cookie or the session until it is read.
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "fresh": fresh}
        page = "admin/accounts/secret.html"
        return TemplateResponse(request, page, context, headers={"Cache-Control": "no-store"})


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin[AccessToken]):
    list_display = ("prefix", "key", "scopes", "expires_at", "created_at")
    fields = ("prefix", "key", "scopes", "expires_at", "created_at")
    list_select_related = ("key",)
    search_help_text = "The beginning of a token or of its key, up to the second underscore."

    def found(self, term: str) -> Q:
        # In steps: an OR with a subquery would read all tokens.
        keys = [*ApiKey.objects.filter(prefix=term).values_list("pk", flat=True)]
        return Q(prefix=term) | Q(key__in=keys)


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin[IdempotencyKey]):
    """Without the kept answers: they hold what their party was told."""

    list_display = ("party", "key", "status", "created_at")
    fields = ("party", "key", "status", "created_at")
    search_help_text = "A party such as retailer:7; behind a space the key, too."

    def found(self, term: str) -> Q:
        party, _, key = term.partition(" ")
        return Q(party=party, key=key.strip()) if key else Q(party=party)
