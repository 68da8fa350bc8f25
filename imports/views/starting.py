"""Views that start imports: from the upload area, a registered host or the body (interface 9)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.viewsets import SupplierViewSet
from api.schema import answers
from imports import job_files
from imports.kinds import ImportKind, KindApi, StartBody
from imports.serializers import StartedJson
from imports.services import start_import
from imports.views.jobs import shown
from imports.views.options import checked


def begin(
    supplier: Supplier, kind: ImportKind, body: StartBody, request: Request, *, by: Actor, status: int
) -> Response:
    """Start the job of a request, and answer with the job and its URL."""
    options = kind.with_mapping(supplier, kind.checked_options(supplier, body))
    field, url = body.named_file()
    if url:
        file = job_files.keep(supplier, url, field)
        options |= {} if file.blob else {"remote": True}
        held: AbstractContextManager[None] = nullcontext()  # the quota already counts files in the area
    else:
        blob = job_files.keep_lines(supplier, body.validated_data["data"])
        file, held = job_files.StoredFile(blob, "data"), job_files.room_for(supplier, blob.size)
    with held:
        job = start_import(
            supplier,
            kind.name,
            source=file.source,
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


def starting_view(kind: ImportKind, api: KindApi) -> type[SupplierViewSet]:
    """Return the class of the view that starts imports of a kind."""

    class StartImportViewSet(SupplierViewSet):
        read_scope, write_scope = kind.read_scope, kind.write_scope
        operation_ids: ClassVar[dict[str, str]] = {"create": api.operation_id}

        @extend_schema(
            summary=f"Import {kind.name} from a file",
            description=api.description,
            request=api.body,
            responses={api.status: answers(StartedJson, "The job.")},
        )
        def create(self, request: Request, supplier_id: int) -> Response:
            body = checked(api.body, request)
            return begin(self.supplier, kind, body, request, by=self.actor, status=api.status)

    return StartImportViewSet
