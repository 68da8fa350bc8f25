"""Views of import jobs: list, read, cancel, approve, retry, and download errors (contract 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.bodies import json_of, refuse_units
from api.errors import Forbidden, NotFound
from api.pagination import Keyset, listing
from api.schema import CURSOR, LIMIT, answers
from imports.error_report import report
from imports.filters import ImportFilter
from imports.kinds import kind_of
from imports.models import ImportJob, Status
from imports.models.kind import names
from imports.serializers import JobJson, JobsJson, first_errors, job_json
from imports.views.scopes import JobsOfScopes


def shown(job: ImportJob, request: Request) -> JobJson:
    return job_json(job, first_errors([job]).get(job.pk, []), request.build_absolute_uri("/").rstrip("/"))


class ImportsViewSet(JobsOfScopes):
    """`/v3/suppliers/{supplier_id}/imports`"""

    @extend_schema(
        summary="List imports",
        parameters=[
            OpenApiParameter("kind", enum=names(), description="Imports of this kind."),
            OpenApiParameter("status", enum=Status.values, description="Imports in this status."),
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
    """`/v3/suppliers/{supplier_id}/imports/{import_id}` and the actions on it"""

    job: ImportJob

    def find(self) -> None:
        jobs = ImportJob.objects.for_supplier(self.supplier)
        job = jobs.filter(pk=self.kwargs["import_id"]).first()
        if job is None:
            raise NotFound
        if job.kind not in self.kinds:
            raise Forbidden(f"This needs the scope {self.scope_of(kind_of(job.kind)).value}.")
        self.job = job

    @extend_schema(summary="Read an import", responses={200: answers(JobJson, "The import.")})
    def retrieve(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return Response(shown(self.job, request))

    def _change(self, change: Callable[..., None], request: Request) -> Response:
        refuse_units(json_of(request), "An import is approved, canceled or retried with all its rows.")
        change(self.job, by=self.actor)
        return Response(shown(self.job, request))

    @extend_schema(
        summary="Cancel an import",
        description="Rows that were already imported stay. A running import stops within a few seconds.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def cancel(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(ImportJob.cancel, request)

    @extend_schema(
        summary="Approve an import",
        description="Releases an import that is `awaiting_approval`; its `report` explains why it waits.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def approve(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(ImportJob.approve, request)

    @extend_schema(
        summary="Retry an import",
        description="Runs a failed import again from the start of its file.",
        request=None,
        responses={200: answers(JobJson, "The import.")},
    )
    def retry(self, request: Request, supplier_id: int, import_id: int) -> Response:
        return self._change(ImportJob.retry, request)


class ErrorsViewSet(ImportViewSet):
    """`/v3/suppliers/{supplier_id}/imports/{import_id}/errors`"""

    answers_file = True

    @extend_schema(
        summary="Download the errors of an import",
        description="The columns `line, field, code, message`, then the columns of the file. Correct the rows"
        " and upload this file: an import ignores the first four columns.",
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "The rejected rows.")},
    )
    def retrieve(self, request: Request, supplier_id: int, import_id: int) -> Any:
        name = f"import-{self.job.pk}-errors.csv"
        return StreamingHttpResponse(
            report(self.job),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
