"""Endpoints of variants (endpoint 8 and contract 10)."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Role, Scope
from accounts.viewsets import KeyViewSet, SupplierViewSet
from api.bodies import read
from api.errors import NotFound
from api.field_selection import field_selection, fields_of
from api.pagination import Keyset
from api.schema import CURSOR, LIMIT, answers, moment_parameter
from catalog.filters import VariantFilter
from catalog.models import Variant, VariantQuerySet
from catalog.serializers import EMPTY, VariantBody, VariantJson, variant_json

FILTERS = [
    OpenApiParameter(name, description=description)
    for name, description in {
        "sku": "Exactly this sku.",
        "model": "Variants of this model.",
        "upc": "Exactly this UPC.",
        "ean": "Exactly this EAN.",
        "gtin": "Exactly this GTIN.",
        "id_in_source": "Exactly this identifier in the supplier's system.",
    }.items()
] + [
    OpenApiParameter("listed", bool, description="Only listed (`true`) or delisted (`false`) variants."),
    moment_parameter("updated_at__gt", "Changed after this moment."),
]


class SupplierVariantsViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/variants`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE

    @extend_schema(
        summary="Create a variant",
        request=VariantBody,
        responses={201: answers(VariantJson, "The variant, with its id.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        variant = Variant.add(self.supplier, read(VariantBody, request), by=self.actor)
        location = request.build_absolute_uri(f"/v3/suppliers/{self.supplier.pk}/variants/{variant.pk}")
        return Response(variant_json(variant), status=201, headers={"Location": location})

    @extend_schema(
        summary="List variants",
        parameters=[*FILTERS, fields_of(VariantJson), LIMIT, CURSOR],
        responses={200: answers(VariantJson, "A page of variants, in the order of their ids.", many=True)},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        select_fields = field_selection(request, VariantJson)
        variants = VariantFilter.apply(request, Variant.objects.for_supplier(self.supplier))
        variants = variants.prefetch_related("expected_stock")
        page = Keyset("id").page(variants, request)
        return Response(
            [select_fields(variant_json(variant)) for variant in page.items], headers=page.headers
        )


class SupplierVariantViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/variants/{variant_id}`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE
    operation_ids: ClassVar[dict[str, str]] = {"retrieve": "get_supplier_variant"}
    variant: Variant

    def find(self) -> None:
        self.variant = get_variant(Variant.objects.for_supplier(self.supplier), self.kwargs["variant_id"])

    def lock(self) -> None:
        Variant.objects.select_for_update().filter(pk=self.variant.pk).first()

    @extend_schema(
        summary="Read an own variant",
        parameters=[fields_of(VariantJson)],
        responses={200: answers(VariantJson, "The variant.")},
    )
    def retrieve(self, request: Request, supplier_id: int, variant_id: int) -> Response:
        return Response(field_selection(request, VariantJson)(variant_json(self.variant)))

    @extend_schema(
        summary="Replace a variant",
        request=VariantBody,
        responses={200: answers(VariantJson, "The changed variant.")},
    )
    def update(self, request: Request, supplier_id: int, variant_id: int) -> Response:
        return self._change(EMPTY | read(VariantBody, request))

    @extend_schema(
        summary="Change some fields of a variant",
        request=VariantBody(partial=True),
        responses={200: answers(VariantJson, "The changed variant.")},
    )
    def partial_update(self, request: Request, supplier_id: int, variant_id: int) -> Response:
        return self._change(read(VariantBody, request, instance=self.variant, partial=True))

    def _change(self, values: dict[str, object]) -> Response:
        self.variant.change(values, by=self.actor)
        return Response(variant_json(self.variant))


class VariantViewSet(KeyViewSet):
    """`/v3/variants/{variant_id}`: an own variant, or a listed variant of an active partner."""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE
    variant: Variant

    def find(self) -> None:
        if self.key.role is Role.SUPPLIER:
            assert self.key.supplier is not None  # the key's role guarantees a supplier
            visible = Variant.objects.for_supplier(self.key.supplier)
        else:
            assert self.key.retailer is not None  # the key's role guarantees a retailer
            visible = Variant.objects.for_retailer(self.key.retailer)
        self.variant = get_variant(visible, self.kwargs["variant_id"])

    @extend_schema(
        summary="Read a variant",
        parameters=[fields_of(VariantJson)],
        responses={200: answers(VariantJson, "The variant.")},
    )
    def retrieve(self, request: Request, variant_id: int) -> Response:
        return Response(field_selection(request, VariantJson)(variant_json(self.variant)))


def get_variant(variants: VariantQuerySet, variant_id: int) -> Variant:
    """Return the variant with this id. Raises NotFound."""
    variant = variants.filter(pk=variant_id).first()
    if variant is None:
        raise NotFound
    return variant
