"""Admin pages for SFTP logins, uploads and suppliers' own hosts. Passwords are never shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.admin_base import ReadOnlyAdmin, operator_of
from accounts.operating.day_filter import DaysFilter
from sftp_ingest import services
from sftp_ingest.admin_actions import ACTIONS
from sftp_ingest.models import RemoteHost, SftpLogin, Upload
from sftp_ingest.services import Credentials


class PasswordForm(forms.ModelForm[Any]):
    """A form with a field for a new password. If the field stays empty, the password stays."""

    new_password = forms.CharField(
        required=False,
        strip=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Leave empty to keep the current password.",
    )

    def changed_by_others(self) -> set[str]:
        """Return no fields. The form of a stored record returns the fields that others have changed."""
        return set()

    def save(self, commit: bool = True) -> Any:
        if self.cleaned_data["new_password"]:
            self.instance.set_password(self.cleaned_data["new_password"])
        return super().save(commit)


# A change of one of these fields could make the service send the stored password to another host.
PASSWORD_DESTINATION = ("supplier", "host", "port", "host_key", "username")


class SftpLoginForm(PasswordForm):
    class Meta:
        model = SftpLogin
        fields = ("supplier", "username", "public_keys", "is_active", "quota_bytes", "largest_file_bytes")


class RemoteHostForm(PasswordForm):
    class Meta:
        model = RemoteHost
        fields = ("supplier", "host", "port", "host_key", "username")

    def clean(self) -> dict[str, object]:
        """Require the password again if the change would send the stored password to another host."""
        cleaned = super().clean() or self.cleaned_data
        moved = [name for name in self.changed_data if name in PASSWORD_DESTINATION]
        if self.instance.password and moved and not cleaned.get("new_password"):
            message = "Enter the password again: it would be sent to another host than before."
            self.add_error("new_password", message)
        elif cleaned.get("new_password") and self.changed_by_others() & {*PASSWORD_DESTINATION}:
            message = (
                "A colleague changed this host meanwhile. Open the page again before you enter a password."
            )
            self.add_error("new_password", message)
        return cleaned


class CredentialsAdmin(admin.ModelAdmin[Any]):
    """The base of pages for logins and remote hosts. Each change is recorded with its operator."""

    def save_model(
        self, request: HttpRequest, obj: Credentials, form: forms.ModelForm[Any], change: bool
    ) -> None:
        if change:
            fields = {"password" if name == "new_password" else name for name in form.changed_data}
            services.update(obj, fields, by=operator_of(request))
        else:
            services.create(obj, by=operator_of(request))

    def delete_model(self, request: HttpRequest, obj: Credentials) -> None:
        services.delete(obj, by=operator_of(request))


@admin.register(SftpLogin)
class SftpLoginAdmin(CredentialsAdmin):
    form = SftpLoginForm
    list_display = ("username", "supplier", "is_active", "last_login_at")
    list_filter = ("is_active",)
    list_select_related = ("supplier",)
    search_fields = ("username", "supplier__name")
    readonly_fields = ("last_login_at", "created_at")


@admin.register(RemoteHost)
class RemoteHostAdmin(ActingFormAdmin[RemoteHost], CredentialsAdmin):
    form = RemoteHostForm
    list_display = ("host", "port", "supplier", "username")
    list_select_related = ("supplier",)
    search_fields = ("host", "supplier__name")
    record_actions = ACTIONS
    acts_with = ("supplier",)


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin[Upload]):
    """The page of a complete upload."""

    list_display = ("path", "supplier", "size", "uploaded_at", "remote_address", "sha256")
    list_filter = ("supplier", ("uploaded_at", DaysFilter))
    list_select_related = ("supplier",)
    search_help_text = "The complete path as the supplier sees it, or the complete SHA-256."

    def search_condition(self, term: str) -> Q:
        return Q(path=term) | Q(sha256=term)
