from django.urls import path

from imports.models import Kind
from imports.views import (
    AutoInventoryViewSet,
    AutoProductsViewSet,
    ErrorsViewSet,
    ImportInventoryViewSet,
    ImportProductsViewSet,
    ImportsViewSet,
    ImportViewSet,
    MappingsViewSet,
    MappingViewSet,
    PolicyViewSet,
    TemplateViewSet,
)

SUPPLIER = "v3/suppliers/<id:supplier_id>"
JOB = f"{SUPPLIER}/imports/<id:import_id>"

urlpatterns = [
    path(f"{SUPPLIER}/importProducts", ImportProductsViewSet.as_view({"post": "create"})),
    path(f"{SUPPLIER}/importInventory", ImportInventoryViewSet.as_view({"post": "create"})),
    path(f"{SUPPLIER}/imports", ImportsViewSet.as_view({"get": "list"})),
    path(JOB, ImportViewSet.as_view({"get": "retrieve"})),
    path(f"{JOB}/errors", ErrorsViewSet.as_view({"get": "retrieve"})),
    path(f"{JOB}/cancel", ImportViewSet.as_view({"post": "cancel"})),
    path(f"{JOB}/approve", ImportViewSet.as_view({"post": "approve"})),
    path(f"{JOB}/retry", ImportViewSet.as_view({"post": "retry"})),
    path(f"{SUPPLIER}/mappings", MappingsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{SUPPLIER}/mappings/<id:mapping_id>",
        MappingViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{SUPPLIER}/importPolicy", PolicyViewSet.as_view({"get": "retrieve", "put": "update"})),
    path(
        f"{SUPPLIER}/autoImports/products",
        AutoProductsViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    path(
        f"{SUPPLIER}/autoImports/inventory",
        AutoInventoryViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    *(
        path(
            f"{SUPPLIER}/templates/{kind.folder}.csv", TemplateViewSet.as_view({"get": "retrieve"}, kind=kind)
        )
        for kind in Kind
    ),
]
