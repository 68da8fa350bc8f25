from django.urls import path

from orders.views import OrderViewSet

ALL = "v3/retailers/<id:retailer_id>/orders"
ONE = f"{ALL}/<id:order_id>"

urlpatterns = [
    path(ALL, OrderViewSet.as_view({"get": "list", "post": "push"})),
    path(ONE, OrderViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path(f"{ONE}/cancel", OrderViewSet.as_view({"post": "cancel"})),
    path(f"{ONE}/routing", OrderViewSet.as_view({"get": "routing"})),
    path("v3/retailers/<id:retailer_id>/order-filters", OrderViewSet.as_view({"get": "counts"})),
]
