from django.urls import path

from catalog.views import SupplierVariantsViewSet, SupplierVariantViewSet, VariantViewSet

urlpatterns = [
    path(
        "v3/suppliers/<id:supplier_id>/variants",
        SupplierVariantsViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "v3/suppliers/<id:supplier_id>/variants/<id:variant_id>",
        SupplierVariantViewSet.as_view({"get": "retrieve", "put": "update", "patch": "partial_update"}),
    ),
    path("v3/variants/<id:variant_id>", VariantViewSet.as_view({"get": "retrieve"})),
]
