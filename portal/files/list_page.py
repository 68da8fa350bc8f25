"""The list of a supplier's files, and the upload."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from imports.drafts.mapped import FAULTS, in_words, mapped_draft
from imports.models import ImportDraft, ImportJob, Status
from imports.overview import Progress
from portal.files.forms import FileForm
from portal.listing import ListQuery, Tabs
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage
from portal.supplying.feeds import failed_files

PAGE = 50


class FilesPage(PortalPage):
    """The list of a supplier's imports, newest first, and the form that uploads a file."""

    template = "portal/files/files.html"
    section = title = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG

    def context(self) -> dict[str, Any]:
        asked = self.request.GET
        jobs = ImportJob.objects.for_supplier(self.supplier)
        page = ListQuery.read({"tab": asked.get("tab", "")}, _tabs()).page(
            jobs, lambda term: Q(), asked.get("before", "")
        )
        drafts = ImportDraft.objects.filter(supplier=self.supplier, jobs=None)
        return {
            **page,
            "rows": [(job, Progress.brief(job)) for job in page["rows"]],
            "drafts": drafts.order_by("-pk")[:PAGE],
            "form": FileForm(initial={"kind": asked.get("kind", "")}),
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        form = FileForm(request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                draft = mapped_draft(
                    self.supplier, form.cleaned_data["kind"], file.name, file.chunks(), by=self.actor
                )
            except FAULTS as error:
                form.add_error("file", in_words(error))
            else:
                return HttpResponseRedirect(reverse("portal:file_draft", args=[draft.pk]))
        return self.render({**self.context(), "form": form})


def _tabs() -> Tabs:
    return {
        "all": ("All", Q()),
        "failed": ("Failed this week", failed_files()),
        "held": ("To approve", Q(status=Status.AWAITING_APPROVAL)),
    }
