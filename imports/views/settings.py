"""The approval rule, automatic imports and templates (contract 6 and 12)."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.schema import answers
from imports.kinds import ImportKind, KindApi, SettingsBody, kind_of
from imports.models import AutoImport, ImportPolicy
from imports.serializers import (
    AutoImportJson,
    PolicyBody,
    PolicyJson,
    auto_import_json,
    policy_json,
)
from imports.services import save_auto_import, save_policy
from imports.templates import template
from imports.views.options import checked
from imports.views.scopes import JobsOfScopes


class TemplateViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/templates/{folder}.csv`"""

    answers_file = True
    kind = ""

    def needed_scope(self) -> Scope | None:
        return kind_of(self.kind).read_scope

    @extend_schema(
        summary="Download a template",
        description="Line 1 has the columns, line 2 marks the mandatory columns, and line 3 is an example."
        " Delete lines 2 and 3 before sending.",
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "The template.")},
    )
    def retrieve(self, request: Request, supplier_id: int) -> Any:
        name = f"{kind_of(self.kind).folder}.csv"
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

    kind: ClassVar[ImportKind]

    def needed_scope(self) -> Scope | None:
        return self.scope_of(self.kind)

    def lock(self) -> None:
        AutoImport.objects.select_for_update().filter(supplier=self.supplier, kind=self.kind.name).first()

    @extend_schema(
        summary="Read an automatic import", responses={200: answers(AutoImportJson, "The settings.")}
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        saved = AutoImport.objects.filter(supplier=self.supplier, kind=self.kind.name).first()
        return Response(auto_import_json(saved or AutoImport(kind=self.kind.name, enabled=False)))

    def save_settings(self, body: SettingsBody) -> Response:
        name, options = self.kind.name, self.kind.checked_options(self.supplier, body)
        # Refuse an unknown mapping now. Otherwise the import of each later upload would fail.
        self.kind.with_mapping(self.supplier, options)
        changes = {"options": options, "enabled": body.validated_data.get("enabled", True)}
        return Response(auto_import_json(save_auto_import(self.supplier, name, changes, by=self.actor)))


def auto_import_view(kind_: ImportKind, api: KindApi) -> type[AutoImportViewSet]:
    """Return the class of the view of a kind's automatic import."""

    class AutoImportOfKindViewSet(AutoImportViewSet):
        kind = kind_

        @extend_schema(
            summary=f"Import {api.files} as they are uploaded",
            description=f"From now on, each file uploaded to `{kind_.folder}/` is imported with"
            " these settings.",
            request=api.settings_body,
            responses={200: answers(AutoImportJson, "The new settings.")},
        )
        def update(self, request: Request, supplier_id: int) -> Response:
            return self.save_settings(checked(api.settings_body, request))

    return AutoImportOfKindViewSet
