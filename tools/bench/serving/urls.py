"""The paths of the service, and their bare views below /bare/."""

from django.urls import include, path

from tools.bench.serving import bare, bare_push

urlpatterns = [
    path("bare/suppliers/<int:supplier_id>/fulfillments", bare.capture),
    path("bare/suppliers/<int:supplier_id>/inventory", bare_push.push_stock),
    path("bare/retailers/<int:retailer_id>/orders", bare.orders),
    path("bare/retailers/<int:retailer_id>/orders/push", bare_push.push_order),
    path("bare/retailers/<int:retailer_id>/orders/<int:order_id>", bare.order),
    path("bare/retailers/<int:retailer_id>/order-filters", bare.counts),
    path("", include("config.urls")),
]

handler404 = "api.errors.page_not_found"
