"""The approval rule, automatic imports and templates (contract 6 and 12)."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.schema import answers
from imports.models import AutoImport, ImportPolicy, Kind
from imports.saved_mappings import with_mapping
from imports.serializers import (
    AutoImportJson,
    AutoInventoryBody,
    AutoProductsBody,
    PolicyBody,
    PolicyJson,
    auto_import_json,
    policy_json,
)
from imports.services import save_auto_import, save_policy
from imports.templates import template
from imports.views.options import checked, options_of
from imports.views.scopes import READS, JobsOfScopes


class TemplateViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/templates/{folder}.csv`"""

    answers_csv = True
    kind: Kind = Kind.PRODUCTS

    def needed_scope(self) -> Scope | None:
        return READS[self.kind]

    @extend_schema(
        summary="Download a template",
        description="Line 1 has the columns, line 2 marks the mandatory ones, line 3 is an example."
        " Delete lines 2 and 3 before sending.",
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "The template.")},
    )
    def retrieve(self, request: Request, supplier_id: int) -> Any:
        name = f"{self.kind.folder}.csv"
        return HttpResponse(
            template(self.kind),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class PolicyViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importPolicy`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    def lock(self) -> None:
        ImportPolicy.objects.select_for_update().filter(supplier=self.supplier).first()

    @extend_schema(
        summary="Read when imports wait for approval", responses={200: answers(PolicyJson, "The policy.")}
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        return Response(policy_json(ImportPolicy.of(self.supplier.pk)))

    @extend_schema(
        summary="Set when imports wait for approval",
        request=PolicyBody,
        responses={200: answers(PolicyJson, "The new policy.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        changes = checked(PolicyBody, request).validated_data
        return Response(policy_json(save_policy(self.supplier, changes, by=self.actor)))


class AutoImportViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/autoImports/{kind}`"""

    kind: Kind = Kind.PRODUCTS

    def needed_scope(self) -> Scope | None:
        return self._scopes()[self.kind]

    def lock(self) -> None:
        AutoImport.objects.select_for_update().filter(supplier=self.supplier, kind=self.kind).first()

    @extend_schema(
        summary="Read an automatic import", responses={200: answers(AutoImportJson, "The settings.")}
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        saved = AutoImport.objects.filter(supplier=self.supplier, kind=self.kind).first()
        return Response(auto_import_json(saved or AutoImport(kind=self.kind, enabled=False)))

    def _update(self, body: Any) -> Response:
        options = options_of(self.kind, body, self.supplier)
        # Refuse an unknown mapping now: each upload reads the mapping again.
        with_mapping(self.supplier, options, self.kind)
        changes = {"options": options, "enabled": body.validated_data.get("enabled", True)}
        saved = save_auto_import(self.supplier, self.kind, changes, by=self.actor)
        return Response(auto_import_json(saved))


class AutoProductsViewSet(AutoImportViewSet):
    kind = Kind.PRODUCTS

    @extend_schema(
        summary="Import product files as they are uploaded",
        description="From now on, each file uploaded to `products/` is imported with this mapping.",
        request=AutoProductsBody,
        responses={200: answers(AutoImportJson, "The new settings.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        return self._update(checked(AutoProductsBody, request))


class AutoInventoryViewSet(AutoImportViewSet):
    kind = Kind.INVENTORY

    @extend_schema(
        summary="Import stock files as they are uploaded",
        description="From now on, each file uploaded to `inventory/` is imported with these settings.",
        request=AutoInventoryBody,
        responses={200: answers(AutoImportJson, "The new settings.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        return self._update(checked(AutoInventoryBody, request))
