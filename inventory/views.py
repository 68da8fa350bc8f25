"""Endpoints of a supplier's stock and warehouses (endpoint 13, contract 7 and 12)."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import read
from api.errors import Invalid
from api.pagination import Keyset
from api.schema import CURSOR, LIMIT, answers, id_parameter
from fastdb.standbys.reads import reads_from_standby
from inventory.filters import MovementFilter, StockFilter
from inventory.models import MovementKind, StockLevel, Warehouse
from inventory.selectors import Actors, Movements, skus_of
from inventory.serializers import (
    MovementJson,
    PushBody,
    PushJson,
    StockJson,
    WarehouseJson,
    movement_json,
    push_json,
    stock_json,
    warehouse_json,
)
from inventory.services import push


class InventoryViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/inventory`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="Push stock",
        description="Sets the number on hand in one warehouse; reserved units stay reserved. Valid elements"
        " are stored, invalid elements are listed in `errors`; the answer is 200 even if every element is"
        " invalid. If several elements name one variant, the last wins.",
        request=PushBody,
        responses={200: answers(PushJson, "How many elements were stored, and the errors of the others.")},
    )
    def push(self, request: Request, supplier_id: int) -> Response:
        body = read(PushBody, request)
        warehouse = Warehouse.objects.filter(supplier=self.supplier, pk=body["warehouse_id"]).first()
        if warehouse is None:
            message = f"You have no warehouse {body['warehouse_id']}. GET …/warehouses lists your warehouses."
            raise Invalid.at("warehouse_id", message, "not_found")
        warehouse.supplier = self.supplier
        result = push(warehouse, body["id_type"], body["inventories"], as_of=body.get("as_of"), by=self.actor)
        return Response(push_json(result))

    @extend_schema(
        summary="List stock",
        parameters=[
            id_parameter("warehouse_id", "Only this warehouse."),
            OpenApiParameter("sku", description="Only exactly this sku."),
            id_parameter("variant_id", "Only this variant."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(StockJson, "A page of stock rows.", many=True)},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        levels = StockFilter.apply(request, StockLevel.objects.for_supplier(self.supplier))
        page = Keyset("id").page(levels.select_related("variant"), request)
        safety = self.supplier.safety_stock
        return Response([stock_json(level, safety) for level in page.items], headers=page.headers)


class MovementsViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/inventory/movements`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="List stock movements",
        description="Every change of the units on hand or reserved, newest first, with its cause."
        " Old movements are folded into one `opening` per stock row.",
        parameters=[
            OpenApiParameter("sku", description="Only exactly this sku."),
            id_parameter("variant_id", "Only this variant."),
            id_parameter("warehouse_id", "Only this warehouse."),
            OpenApiParameter("kind", enum=list(MovementKind.values), description="Only this kind."),
            id_parameter("order_id", "Only movements of this order."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(MovementJson, "A page of movements.", many=True)},
    )
    @reads_from_standby
    def list(self, request: Request, supplier_id: int) -> Response:
        movements = Movements.of_supplier(self.supplier.pk, MovementFilter.requested(request))
        page = Keyset("-id").page_by(movements.fetch, request)
        skus, actors = skus_of(page.items), Actors(self.supplier.pk, page.items)
        body = [movement_json(row, skus.get(row.variant_id, ""), actors) for row in page.items]
        return Response(body, headers=page.headers)


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
        return Response([warehouse_json(warehouse) for warehouse in page.items], headers=page.headers)
