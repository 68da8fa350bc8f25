"""A supplier's stock and warehouses (endpoint 13, contract 7 and 12)."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import read
from api.errors import Invalid
from api.keyset import Keyset
from api.schema import CURSOR, LIMIT, answers
from inventory.filters import StockFilter
from inventory.models import StockLevel, Warehouse
from inventory.pushing import push
from inventory.serializers import (
    PushBody,
    PushJson,
    StockJson,
    WarehouseJson,
    push_json,
    stock_json,
    warehouse_json,
)


class InventoryViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/inventory`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="Push stock",
        description="Sets what is on hand in one warehouse; what is reserved stays reserved. Good elements"
        " land, bad ones are listed in `errors`: 200 also when every one is bad. Of several elements for one"
        " variant the last counts.",
        request=PushBody,
        responses={200: answers(PushJson, "How many landed, and why the others did not.")},
    )
    def push(self, request: Request, supplier_id: int) -> Response:
        body = read(PushBody, request)
        warehouse = Warehouse.objects.filter(supplier=self.supplier, pk=body["warehouse_id"]).first()
        if warehouse is None:
            message = f"You have no warehouse {body['warehouse_id']}; GET …/warehouses lists yours."
            raise Invalid.at("warehouse_id", message, "not_found")
        warehouse.supplier = self.supplier
        outcome = push(
            warehouse, body["id_type"], body["inventories"], as_of=body.get("as_of"), by=self.actor
        )
        return Response(push_json(outcome))

    @extend_schema(
        summary="List stock",
        parameters=[
            OpenApiParameter("warehouse_id", int, description="Of this warehouse."),
            OpenApiParameter("sku", description="Of exactly this sku."),
            OpenApiParameter("variant_id", int, description="Of this variant."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(StockJson, "A page of stock rows.", many=True)},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        levels = StockFilter.apply(request, StockLevel.objects.for_supplier(self.supplier))
        page = Keyset("id").page(levels.select_related("variant"), request)
        safety = self.supplier.safety_stock
        return Response([stock_json(each, safety) for each in page.items], headers=page.headers)


class WarehousesViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/warehouses`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="List warehouses",
        parameters=[LIMIT, CURSOR],
        responses={200: answers(WarehouseJson, "Your warehouses.", many=True)},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        page = Keyset("id").page(Warehouse.objects.filter(supplier=self.supplier), request)
        return Response([warehouse_json(each) for each in page.items], headers=page.headers)
