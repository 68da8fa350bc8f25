"""The pages of contacts and of message templates."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from accounts.models import Contact
from backoffice.models import MessageTemplate
from events.admin_base import RecordedAdmin
from events.models import ACCOUNTS
from events.recording import record as write_event


@admin.register(Contact)
class ContactAdmin(RecordedAdmin[Contact]):
    """The admin of contacts. Its events name only the changed fields, so they contain no personal data."""

    event_subject = "contact"
    fields: ClassVar = ("supplier", "retailer", "name", "job", "email", "telephone")
    list_display = ("name", "party", "job", "email", "telephone")
    list_select_related = ("supplier", "retailer")
    search_fields = ("name", "email", "supplier__name", "retailer__name")
    autocomplete_fields = ("supplier", "retailer")

    def event_fields(self, contact: Contact) -> dict[str, object]:
        return {"area": ACCOUNTS, contact.role.value: contact.party, "data": {}}

    def save_recorded(self, record: Contact, names: Any, *, by: Any) -> None:
        """Record the names of the changed fields, without their values."""
        if names is not None and not names:
            return
        with transaction.atomic():
            record.save(update_fields=names)
            verb = "created" if names is None else "updated"
            fields = self.event_fields(record)
            fields["data"] = {"contact_id": record.pk, "fields": sorted(names or ())}
            write_event(f"contact.{verb}", by=by, **fields)

    def get_readonly_fields(self, request: HttpRequest, obj: Contact | None = None) -> tuple[str, ...]:
        """Make the party of a stored contact read-only."""
        return ("supplier", "retailer") if obj else ()


@admin.register(MessageTemplate)
class MessageTemplateAdmin(admin.ModelAdmin[MessageTemplate]):
    list_display = ("name", "subject")
    search_fields = ("name", "subject")
