"""Views that start imports: from the upload area, a registered host or the body (interface 9)."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.schema import answers
from imports import job_files
from imports.models import Kind
from imports.saved_mappings import with_mapping
from imports.serializers import ImportInventoryBody, ImportProductsBody, StartedJson
from imports.services import start_import
from imports.views.jobs import shown
from imports.views.options import checked, options_of


def begin(
    supplier: Supplier,
    kind: Kind,
    body: Any,
    request: Request,
    *,
    field: str,
    url: str,
    by: Actor,
    status: int,
) -> Response:
    """Start the job of a request; answer with the job and its URL."""
    options = with_mapping(supplier, options_of(kind, body, supplier), kind)
    lines = body.validated_data.get("data")
    if url:
        file = job_files.keep(supplier, url, field)
        options |= {} if file.blob else {"remote": True}
    else:
        file = job_files.StoredFile(job_files.keep_lines(supplier, lines))
    job = start_import(
        supplier,
        kind,
        source=url or "data",
        blob=file.blob,
        options=options,
        dry_run=body.validated_data.get("dry_run", False),
        as_of=body.validated_data.get("as_of") or file.uploaded_at,
        by=by,
    )
    message = f"Import {job.pk} is {job.status}. GET …/imports/{job.pk} shows its progress."
    answer: StartedJson = {**shown(job, request), "success": True, "message": message}
    location = request.build_absolute_uri(f"/v3/suppliers/{supplier.pk}/imports/{job.pk}")
    return Response(answer, status=status, headers={"Location": location})


class ImportProductsViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importProducts`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE
    operation_ids: ClassVar[dict[str, str]] = {"create": "import_products"}

    @extend_schema(
        summary="Import products from a file",
        description="Starts a job: `file_url` names a CSV file in the upload area or on a registered host,"
        " or `data` holds its lines. Good rows are imported, bad rows are reported.",
        request=ImportProductsBody,
        responses={201: answers(StartedJson, "The job.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        body = checked(ImportProductsBody, request)
        field = "file_url" if body.validated_data.get("file_url") else "url"
        url = body.validated_data.get(field, "")
        source = {"field": field, "url": url}
        return begin(self.supplier, Kind.PRODUCTS, body, request, **source, by=self.actor, status=201)


class ImportInventoryViewSet(SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/importInventory`"""

    read_scope, write_scope = Scope.INVENTORY_READ, Scope.INVENTORY_WRITE
    operation_ids: ClassVar[dict[str, str]] = {"create": "import_inventory"}

    @extend_schema(
        summary="Import inventory from a file",
        description="Starts a job that sets `on_hand`; reserved units stay reserved. The counts are of the"
        " moment `as_of`, by default of the end of the file's upload: units shipped after it are subtracted,"
        " returned units are added. A row with a newer count is refused (`stale_count`).",
        request=ImportInventoryBody,
        responses={200: answers(StartedJson, "The job.")},
    )
    def create(self, request: Request, supplier_id: int) -> Response:
        body = checked(ImportInventoryBody, request)
        url = body.validated_data["url"]
        source = {"field": "url", "url": url}
        return begin(self.supplier, Kind.INVENTORY, body, request, **source, by=self.actor, status=200)
