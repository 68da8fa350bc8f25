from django.urls import path

from inventory.views import InventoryViewSet, MovementsViewSet, WarehousesViewSet

urlpatterns = [
    path(
        "v3/suppliers/<id:supplier_id>/inventory",
        InventoryViewSet.as_view({"get": "list", "post": "push"}),
    ),
    path("v3/suppliers/<id:supplier_id>/inventory/movements", MovementsViewSet.as_view({"get": "list"})),
    path("v3/suppliers/<id:supplier_id>/warehouses", WarehousesViewSet.as_view({"get": "list"})),
]
