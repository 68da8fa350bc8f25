"""Admin page of digest subscriptions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest

from backoffice.models import Digest


@admin.register(Digest)
class DigestAdmin(admin.ModelAdmin[Digest]):
    list_display = ("__str__", "hour", "enabled", "sent_at", "last_error")
    list_filter = ("enabled",)
    list_select_related = ("user", "supplier")
    fields = ("user", "supplier", "address", "hour", "enabled", "sent_at", "last_error")
    readonly_fields = ("sent_at", "last_error")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            kwargs["queryset"] = db_field.related_model.objects.filter(is_staff=True, is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        given = super().get_changeform_initial_data(request)
        default = {} if "supplier" in given else {"user": request.user.pk, "address": request.user.email}  # type: ignore[union-attr]
        return {**default, **given}

    def save_model(self, request: HttpRequest, obj: Digest, form: ModelForm[Digest], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not settings.EMAIL_URL:
            messages.warning(
                request,
                "Saved, but no mail is sent: EMAIL_URL is not set. Ask an administrator to set it.",
            )
