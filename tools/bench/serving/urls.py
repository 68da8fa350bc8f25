"""The paths of the service, and their bare views below /bare/."""

from django.urls import include, path

from tools.bench.serving import bare

urlpatterns = [
    path("bare/suppliers/<int:supplier_id>/inventory", bare.push_stock),
    path("bare/retailers/<int:retailer_id>/orders", bare.orders),
    path("bare/<path:read>", bare.replay),
    path("", include("config.urls")),
]

handler404 = "api.errors.page_not_found"
