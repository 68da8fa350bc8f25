"""Imports over the API (endpoints 9 and 12, contract 6 and 12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actors import Actor
from accounts.authentication import Access
from accounts.models import Supplier
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import json_of
from api.errors import Forbidden, Invalid, NotFound
from api.keyset import Keyset, listing
from api.schema import CURSOR, LIMIT, answers
from imports import lifecycle, sources
from imports.filters import ImportFilter
from imports.importer import importer_of
from imports.models import AutoImport, ImportJob, ImportPolicy, Kind
from imports.reporting import report
from imports.serializers import (
    AutoImportJson,
    AutoInventoryBody,
    AutoProductsBody,
    ImportInventoryBody,
    ImportProductsBody,
    JobJson,
    JobsJson,
    PolicyBody,
    PolicyJson,
    ProductMappingBody,
    StartedJson,
    StockMappingBody,
    first_errors,
    job_json,
    policy_json,
)
from imports.templates import template

READS = {Kind.PRODUCTS: Scope.CATALOG_READ, Kind.INVENTORY: Scope.INVENTORY_READ}
WRITES = {Kind.PRODUCTS: Scope.CATALOG_WRITE, Kind.INVENTORY: Scope.INVENTORY_WRITE}


def checked(body: type[Any], request: Request) -> Any:
    """A body that is checked, with its `options`. Raises ValidationError."""
    data = json_of(request)
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    serializer = body(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer


def options_of(kind: str, body: ProductMappingBody | StockMappingBody, supplier: Supplier) -> dict[str, Any]:
    return importer_of(kind).check(supplier, body.options())


def shown(job: ImportJob, request: Request) -> JobJson:
    return job_json(job, first_errors([job]).get(job.pk, []), request.build_absolute_uri("/").rstrip("/"))


def begin(
    supplier: Supplier, kind: Kind, body: Any, request: Request, *, field: str, url: str, by: Actor
) -> StartedJson:
    """Start the job of a request and show it."""
    options = options_of(kind, body, supplier)
    lines = body.validated_data.get("data")
    if url:
        file, remote = sources.keep(supplier, url, field)
        options |= {"remote": True} if remote else {}
    else:
        file = sources.keep_lines(lines)
    job = lifecycle.start(
        supplier,
        kind,
        source=url or "data",
        file=file,
        options=options,
        dry_run=body.validated_data.get("dry_run", False),
        by=by,
    )
    message = f"Import {job.pk} is {job.status}. GET …/imports/{job.pk} tells how it goes on."
    return {**shown(job, request), "success": True, "message": message}


class ImportProductsViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importProducts`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE

    @extend_schema(
        summary="Import products from a file",
        description="Starts a job: `file_url` names a CSV file in the upload area or on a registered host,"
        " or `data` holds its lines. Good rows land, bad ones are reported.",
        request=ImportProductsBody,
        responses={201: answers(StartedJson, "The job.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        body = checked(ImportProductsBody, request)
        field = "file_url" if body.validated_data.get("file_url") else "url"
        url = body.validated_data.get(field, "")
        started = begin(self.supplier, Kind.PRODUCTS, body, request, field=field, url=url, by=self.actor)
        return Response(started, status=201)


class ImportInventoryViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importInventory`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="Import inventory from a file",
        description="Starts a job that sets `on_hand`; what is reserved stays reserved.",
        request=ImportInventoryBody,
        responses={200: answers(StartedJson, "The job.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        body = checked(ImportInventoryBody, request)
        url = body.validated_data["url"]
        return Response(
            begin(self.supplier, Kind.INVENTORY, body, request, field="url", url=url, by=self.actor)
        )


class JobsOfScopes(SupplierViewSet):
    """Product jobs are for the catalog scopes, stock jobs for the inventory scopes."""

    def admit(self, access: Access, kwargs: Mapping[str, Any]) -> None:
        self.kinds = [kind for kind, scope in self._scopes().items() if scope in access.scopes]
        super().admit(access, kwargs)

    def _scopes(self) -> Mapping[Kind, Scope]:
        return READS if self.request.method in ("GET", "HEAD", "OPTIONS") else WRITES

    def needed_scope(self) -> Scope | None:
        """Either of the two; which one is needed is known when the job is found."""
        return self._scopes()[self.kinds[0] if self.kinds else Kind.PRODUCTS]


class ImportsViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/imports`"""

    @extend_schema(
        summary="List imports",
        parameters=[
            OpenApiParameter("kind", enum=Kind.values, description="Of this kind."),
            OpenApiParameter("status", description="In this state."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(JobsJson, "A page of imports, the newest first.")},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        jobs = ImportJob.objects.for_supplier(self.supplier).filter(kind__in=self.kinds)
        page = Keyset("-id").page(ImportFilter.apply(request, jobs), request)
        errors, base = first_errors(page.items), request.build_absolute_uri("/").rstrip("/")
        return Response(listing(page, lambda job: job_json(job, errors.get(job.pk, []), base)))


class ImportViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/imports/{import_id}` and what can be done with it"""

    job: ImportJob

    def find(self) -> None:
        jobs = ImportJob.objects.for_supplier(self.supplier)
        job = jobs.filter(pk=self.kwargs["import_id"]).first()
        if job is None:
            raise NotFound
        if job.kind not in self.kinds:
            raise Forbidden(f"This needs the scope {self._scopes()[Kind(job.kind)].value}.")
        self.job = job

    @extend_schema(summary="Read an import", responses={200: answers(JobJson, "The import.")})
    def retrieve(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return Response(shown(self.job, request))

    def _change(self, change: Callable[..., None], request: Request) -> Response:
        change(self.job, by=self.actor)
        return Response(shown(self.job, request))

    @extend_schema(
        summary="Cancel an import",
        description="What has landed stays. A running one stops within a few seconds.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def cancel(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(lifecycle.cancel, request)

    @extend_schema(
        summary="Approve an import",
        description="Releases one that is `awaiting_approval`; its `report` says why it waits.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def approve(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(lifecycle.approve, request)

    @extend_schema(
        summary="Retry an import",
        description="Runs a failed one once more, from the start of its file.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def retry(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(lifecycle.retry, request)


class ErrorsViewSet(ImportViewSet):
    """`/v3/suppliers/{supplier_id}/imports/{import_id}/errors`"""

    answers_csv = True

    @extend_schema(
        summary="Download the errors of an import",
        description="`line, field, code, message`, then the file's own columns. Correct it and upload it"
        " as it is: the first four columns are ignored then.",
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "The rejected rows.")},
    )
    def retrieve(self, request: Request, supplier_id: int, import_id: int) -> Any:
        name = f"import-{self.job.pk}-errors.csv"
        return StreamingHttpResponse(
            report(self.job),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class TemplateViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/templates/{kind}.csv`"""

    answers_csv = True
    kind: Kind = Kind.PRODUCTS

    def needed_scope(self) -> Scope | None:
        return READS[self.kind]

    @extend_schema(
        summary="Download a template",
        description="Line 1 has the columns, line 2 says which are mandatory, line 3 is an example."
        " Delete lines 2 and 3 before sending.",
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "The template.")},
    )
    def retrieve(self, request: Request, supplier_id: int) -> Any:
        name = f"{self.kind}.csv"
        return HttpResponse(
            template(self.kind),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class PolicyViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importPolicy`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE

    @extend_schema(
        summary="Read when imports wait for approval", responses={200: answers(PolicyJson, "The policy.")}
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        return Response(policy_json(ImportPolicy.of(self.supplier.pk)))

    @extend_schema(
        summary="Say when imports wait for approval",
        request=PolicyBody,
        responses={200: answers(PolicyJson, "The policy as it is now.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        changes = checked(PolicyBody, request).validated_data
        policy, _ = ImportPolicy.objects.update_or_create(supplier=self.supplier, defaults=changes)
        return Response(policy_json(policy))


class AutoImportViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/autoImports/{kind}`"""

    kind: Kind = Kind.PRODUCTS

    def needed_scope(self) -> Scope | None:
        return self._scopes()[self.kind]

    @extend_schema(
        summary="Read an automatic import", responses={200: answers(AutoImportJson, "Whether, and how.")}
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        saved = AutoImport.objects.filter(supplier=self.supplier, kind=self.kind).first()
        return Response(auto_import_json(saved or AutoImport(kind=self.kind, enabled=False)))

    def _update(self, body: Any) -> Response:
        options = options_of(self.kind, body, self.supplier)
        saved, _ = AutoImport.objects.update_or_create(
            supplier=self.supplier,
            kind=self.kind,
            defaults={"options": options, "enabled": body.validated_data.get("enabled", True)},
        )
        return Response(auto_import_json(saved))


class AutoProductsViewSet(AutoImportViewSet):
    kind = Kind.PRODUCTS

    @extend_schema(
        summary="Import product files as they are uploaded",
        description="From now on, a file that is put into `products/` starts its job, with this mapping.",
        request=AutoProductsBody,
        responses={200: answers(AutoImportJson, "As it is now.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        return self._update(checked(AutoProductsBody, request))


class AutoInventoryViewSet(AutoImportViewSet):
    kind = Kind.INVENTORY

    @extend_schema(
        summary="Import stock files as they are uploaded",
        description="From now on, a file that is put into `inventory/` starts its job, in this way.",
        request=AutoInventoryBody,
        responses={200: answers(AutoImportJson, "As it is now.")},
    )
    def update(self, request: Request, supplier_id: int) -> Response:
        return self._update(checked(AutoInventoryBody, request))


def auto_import_json(saved: AutoImport) -> AutoImportJson:
    return {"kind": saved.kind, "enabled": saved.enabled, "options": saved.options}
