"""Admin pages for events, webhooks and deliveries."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.admin_base import ReadOnlyAdmin
from accounts.operating.day_filter import DaysFilter
from accounts.scopes import Scope
from api.ids import as_id
from api.prefix_search import begins
from events.admin_actions import DELIVERY_ACTIONS, WEBHOOK_ACTIONS
from events.admin_filters import FailingFilter
from events.models import ACCOUNTS, Delivery, Event, Webhook
from events.webhooks.selectors import backlogs
from ui.badges import badge


class AreaFilter(admin.SimpleListFilter):
    """A filter by an event's area. Its choices come from the scopes, so the filter runs no query."""

    title = "area"
    parameter_name = "area"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        areas = [*dict.fromkeys(scope.value.partition(":")[0] for scope in Scope), ACCOUNTS]
        return [(area, area) for area in areas]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(area=self.value()) if self.value() else queryset


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin[Event]):
    list_display = (
        "number",
        "type",
        "occurred_at",
        "supplier",
        "retailer",
        "order_id",
        "fulfillment_id",
        "import_id",
        "actor",
    )
    list_display_links = ("number", "type")
    list_filter = (AreaFilter, ("occurred_at", DaysFilter), "supplier", "retailer")
    list_select_related = ("supplier", "retailer")
    search_help_text = "The number of an order or of an import, or the first characters of a request_id."
    list_per_page = 100

    def search_condition(self, term: str) -> Q:
        by_request = ~Q(request_id="") & begins("request_id", term)
        return Q(order_id=as_id(term)) | Q(import_id=as_id(term)) | by_request


NEWEST = 20


@admin.register(Webhook)
class WebhookAdmin(RecordAdmin[Webhook]):
    """Webhooks of partners, and the recent answers of their receivers. Secrets are never shown."""

    record_actions = WEBHOOK_ACTIONS
    acts_with = ("supplier", "retailer")
    page_template = "admin/events/webhook/page.html"
    list_display = ("id", "party", "url", "shown_state", "delivered_at", "failing_since", "last_error")
    list_display_links = ("id", "url")
    list_filter = (FailingFilter, "active", "supplier", "retailer")
    list_select_related = ("supplier", "retailer")
    search_help_text = "The number of a webhook, or its full URL."

    def search_condition(self, term: str) -> Q:
        return super().search_condition(term) | Q(url=term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).select_related("supplier", "retailer", "sender")

    @admin.display(description="state")
    def shown_state(self, webhook: Webhook) -> str:
        if webhook.removed_at:
            return badge("removed")
        if not webhook.active:
            return badge("off")
        return badge("failing" if webhook.failing_since else "on")

    def page_context(self, request: HttpRequest, webhook: Webhook) -> dict[str, object]:
        until = webhook.old_secret_until
        return {
            "backlog": backlogs([webhook.pk])[webhook.pk],
            "deliveries": Delivery.objects.filter(webhook=webhook).order_by("-event_id")[:NEWEST],
            "secrets_overlap": until is not None and until > timezone.now(),
        }


@admin.register(Delivery)
class DeliveryAdmin(RecordAdmin[Delivery]):
    """Deliveries of events to webhooks, with their status."""

    record_actions = DELIVERY_ACTIONS
    acts_with = ("webhook__supplier", "webhook__retailer", "event")
    page_template = "admin/events/delivery/page.html"
    list_display = (
        "shown_event",
        "webhook",
        "subject",
        "shown_status",
        "attempts",
        "last_status",
        "next_attempt_at",
    )
    list_filter = ("status",)
    list_select_related = ("webhook__supplier", "webhook__retailer")
    search_help_text = "The id of an event, or webhook:1."

    @admin.display(description="event ID", ordering="event_id")
    def shown_event(self, delivery: Delivery) -> int:
        return delivery.event_id

    def search_condition(self, term: str) -> Q:
        name, _, number = term.partition(":")
        if name == "webhook":
            return Q(webhook=as_id(number))
        # Name all webhooks: the unique index of deliveries begins with the webhook, then the event.
        return Q(webhook__in=[*Webhook.objects.values_list("pk", flat=True)], event=as_id(term))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).select_related("webhook__supplier", "webhook__retailer")

    @admin.display(description="status")
    def shown_status(self, delivery: Delivery) -> str:
        return badge(delivery.status)
