"""The list of a supplier's files, and the upload."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from imports.drafts.mapped import FAULTS, in_words, mapped_draft
from imports.models import ImportDraft, ImportJob
from imports.overview import Progress
from portal.files.forms import FileForm
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage

PAGE = 50
LAST = 2**63 - 1


class FilesPage(PortalPage):
    """The list of a supplier's imports, newest first, and the form that uploads a file."""

    template = "portal/files/files.html"
    section = title = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG

    def context(self) -> dict[str, Any]:
        before = self.request.GET.get("before", "")
        end = int(before) if before.isascii() and before.isdecimal() and len(before) < 19 else LAST
        jobs = list(
            ImportJob.objects.for_supplier(self.supplier).filter(pk__lt=end).order_by("-pk")[: PAGE + 1]
        )
        drafts = ImportDraft.objects.filter(supplier=self.supplier, jobs=None)
        return {
            "rows": [(job, Progress.brief(job)) for job in jobs[:PAGE]],
            "drafts": drafts.order_by("-pk")[:PAGE],
            "more": jobs[PAGE - 1].pk if len(jobs) > PAGE else None,
            "form": FileForm(initial={"kind": self.request.GET.get("kind", "")}),
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
