"""Views of saved mappings: list, save, read, change, delete (contract 13)."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.errors import Forbidden, NotFound
from api.schema import answers
from imports.kinds import kind_with_mappings
from imports.models import SavedMapping
from imports.saved_mappings import change_mapping, create_mapping, delete_mapping
from imports.serializers import MappingJson, MappingsJson, SavedMappingBody, mapping_json
from imports.shop_exports import BUILT_IN
from imports.views.options import checked


class MappingsViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/mappings`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE

    @extend_schema(
        summary="List mappings",
        description="The mappings of the service, such as `shopify`, then your own.",
        responses={200: answers(MappingsJson, "All mappings.")},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        own = SavedMapping.objects.filter(supplier=self.supplier)
        results = [*map(mapping_json, BUILT_IN.values()), *map(mapping_json, own)]
        return Response({"next": None, "previous": None, "results": results})

    @extend_schema(
        summary="Save a mapping",
        description="Imports and automatic imports can then use its name.",
        request=SavedMappingBody,
        responses={201: answers(MappingJson, "The mapping.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        body = checked(SavedMappingBody, request)
        name, kind = body.validated_data["name"], kind_with_mappings().name
        saved = create_mapping(self.supplier, kind, name, body.options(), by=self.actor)
        location = request.build_absolute_uri(f"/v3/suppliers/{self.supplier.pk}/mappings/{saved.pk}")
        return Response(mapping_json(saved), status=201, headers={"Location": location})


class MappingViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/mappings/{mapping_id}`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE
    operation_ids: ClassVar[dict[str, str]] = {"destroy": "delete_mapping"}
    found: Any

    def find(self) -> None:
        number = self.kwargs["mapping_id"]
        built_in = next((each for each in BUILT_IN.values() if each.id == number), None)
        self.found = built_in or SavedMapping.objects.filter(supplier=self.supplier, pk=number).first()
        if self.found is None:
            raise NotFound

    def lock(self) -> None:
        SavedMapping.objects.select_for_update().filter(pk=self.found.id, supplier=self.supplier).first()

    def _own(self) -> SavedMapping:
        if not isinstance(self.found, SavedMapping):
            message = (
                f"The mapping {self.found.name!r} belongs to the service. Save a mapping under another name."
            )
            raise Forbidden(message)
        return self.found

    @extend_schema(summary="Read a mapping", responses={200: answers(MappingJson, "The mapping.")})
    def retrieve(self, request: Request, supplier_id: int, mapping_id: int) -> Response:
        return Response(mapping_json(self.found))

    @extend_schema(
        summary="Change a mapping",
        description="Replaces the whole mapping. Imports that were started keep their options.",
        request=SavedMappingBody,
        responses={200: answers(MappingJson, "The mapping.")},
    )
    def update(self, request: Request, supplier_id: int, mapping_id: int) -> Response:
        own = self._own()
        body = checked(SavedMappingBody, request)
        change_mapping(own, body.validated_data["name"], body.options(), by=self.actor)
        return Response(mapping_json(own))

    @extend_schema(
        summary="Delete a mapping",
        description="409 `mapping_in_use` while an automatic import uses it.",
        responses={204: OpenApiResponse(description="The mapping was deleted.")},
    )
    def destroy(self, request: Request, supplier_id: int, mapping_id: int) -> Response:
        delete_mapping(self._own(), by=self.actor)
        return Response(status=204)
