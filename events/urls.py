from django.urls import URLPattern, path

from accounts.scopes import Role
from events.views import RetailerEventsViewSet, SupplierEventsViewSet
from events.webhooks.asyncapi import asyncapi
from events.webhooks.views import (
    RetailerWebhooksViewSet,
    RetailerWebhookViewSet,
    SupplierWebhooksViewSet,
    SupplierWebhookViewSet,
    WebhooksViewSet,
    WebhookViewSet,
)


def webhooks(role: Role, many: type[WebhooksViewSet], one: type[WebhookViewSet]) -> list[URLPattern]:
    """Return the paths of a role's webhooks. Both roles have the same paths."""
    base = f"v3/{role}s/<id:{role}_id>/webhooks"
    return [
        path(base, many.as_view({"get": "list", "post": "create"})),
        path(
            f"{base}/<id:webhook_id>",
            one.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        ),
        path(f"{base}/<id:webhook_id>/rotate", one.as_view({"post": "rotate"})),
        path(f"{base}/<id:webhook_id>/test", one.as_view({"post": "test"})),
        path(f"{base}/<id:webhook_id>/replay", one.as_view({"post": "replay"})),
        path(f"{base}/<id:webhook_id>/deliveries", one.as_view({"get": "deliveries"})),
    ]


urlpatterns = [
    path("v3/asyncapi", asyncapi),
    path("v3/suppliers/<id:supplier_id>/events", SupplierEventsViewSet.as_view({"get": "list"})),
    path("v3/retailers/<id:retailer_id>/events", RetailerEventsViewSet.as_view({"get": "list"})),
    *webhooks(Role.SUPPLIER, SupplierWebhooksViewSet, SupplierWebhookViewSet),
    *webhooks(Role.RETAILER, RetailerWebhooksViewSet, RetailerWebhookViewSet),
]
