from django.urls import path

from events.views import RetailerEventsViewSet, SupplierEventsViewSet

urlpatterns = [
    path("v3/suppliers/<id:supplier_id>/events", SupplierEventsViewSet.as_view({"get": "list"})),
    path("v3/retailers/<id:retailer_id>/events", RetailerEventsViewSet.as_view({"get": "list"})),
]
