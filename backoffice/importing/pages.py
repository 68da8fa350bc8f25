"""Pages that upload a file, map its columns beside a preview of its first rows, and start its dry run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from accounts.actors import Actor
from accounts.operating.admin_base import operator_of
from api.errors import ApiError
from backoffice.importing.forms import ChunkForm, UploadForm
from imports.drafts.chunks import chunk_bytes, forget_chunks, joined, keep_chunk
from imports.drafts.columns import changed_body, columns_of, targets
from imports.drafts.mapped import FAULTS, first_body, in_words, mapped_draft, sample_of
from imports.drafts.mappings import choices
from imports.drafts.preview import Preview, preview
from imports.drafts.sample import FileSample
from imports.drafts.services import discard, options_of, saved_options, start
from imports.kinds import kind_of
from imports.models import ImportDraft
from imports.pipeline.errors import Unreadable
from imports.pipeline.mapping import TRANSFORMERS
from imports.saved_mappings import create_mapping
from imports.serializers import SavedMappingBody
from imports.services import save_auto_import

MAY = "imports.change_importjob"


def upload_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show the form for a file. Store the sent file, then redirect to its mapping."""
    _require(request)
    asked = {name: request.GET[name] for name in ("supplier", "kind") if name in request.GET}
    form = UploadForm(request.POST or None, request.FILES or None, initial=asked)
    if request.method == "POST" and form.is_valid():
        try:
            draft = _uploaded(form, operator_of(request))
        except FAULTS as error:
            form.add_error("file", in_words(error))
        else:
            return HttpResponseRedirect(reverse("admin:import_draft", args=[draft.pk]))
    context = {**site.each_context(request), "title": "Import a file", "form": form, "in_one": chunk_bytes()}
    return TemplateResponse(request, "admin/imports/upload.html", context)


def _uploaded(form: UploadForm, by: Actor) -> ImportDraft:
    """Store the uploaded file as a draft. Raises one of FAULTS if the file is unreadable."""
    given = form.cleaned_data
    supplier, kind, file = given["supplier"], given["kind"], given["file"]
    if file:
        return mapped_draft(supplier, kind, file.name, file.chunks(), by=by)
    whole = joined(given["upload"] or UUID(int=0), given["chunks"], by=by)
    draft = mapped_draft(supplier, kind, given["name"], whole, by=by)
    forget_chunks(given["upload"], by=by)
    return draft


def keep_upload_chunk(request: HttpRequest) -> HttpResponse:
    """Store one chunk of a large file; `upload_page` joins the chunks."""
    _require(request)
    form = ChunkForm(request.POST, request.FILES)
    if not form.is_valid():
        return JsonResponse(
            {"message": "The request contains no valid chunk of a file. Upload the file again."}, status=400
        )
    given = form.cleaned_data
    try:
        keep_chunk(given["upload"], given["position"], given["chunk"].chunks(), by=operator_of(request))
    except ApiError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return JsonResponse({}, status=201)


def _require(request: HttpRequest) -> None:
    if not request.user.has_perm(MAY):
        raise PermissionDenied


def draft_page(site: AdminSite, request: HttpRequest, pk: int) -> HttpResponse:
    """Show and save the mapping of a file, and start its dry run."""
    _require(request)
    draft = _find(pk)
    if request.method == "POST" and request.POST.get("do") == "discard":
        return _discarded(request, draft)
    sample = _sample_or_none(draft, request)
    if sample is not None and not draft.is_suggested:
        draft.body, draft.is_suggested = first_body(draft, sample), True
        draft.save(update_fields=["body", "is_suggested"])
    if request.method == "POST" and sample is not None:
        answer = _posted(request, draft, sample)
        if answer is not None:
            return answer
    context = {
        **site.each_context(request),
        "title": f"Map columns of {draft.name}",
        "draft": draft,
        "sample": sample,
        "jobs": draft.jobs.order_by("-id")[:5],
    }
    if sample is not None:
        context |= shown(draft, sample, draft.body)
    return TemplateResponse(request, "admin/imports/draft.html", context)


def preview_part(site: AdminSite, request: HttpRequest, pk: int) -> HttpResponse:
    """Preview the first rows with the posted mapping, without saving it."""
    _require(request)
    draft = _find(pk)
    sample = _sample_or_none(draft, request)
    if request.method != "POST" or sample is None:
        raise Http404
    try:
        found = _preview(draft, sample, _body(request, draft, sample))
    except ApiError as error:
        found = Preview(problem=in_words(error))
    return TemplateResponse(request, "admin/imports/preview.html", {"preview": found, "sample": sample})


def _find(pk: int) -> ImportDraft:
    draft = ImportDraft.objects.select_related("supplier", "blob").filter(pk=pk).first()
    if draft is None:
        raise Http404
    return draft


def _sample_or_none(draft: ImportDraft, request: HttpRequest) -> FileSample | None:
    if draft.is_being_read:
        return None
    try:
        return sample_of(draft)
    except (Unreadable, OSError) as error:
        messages.error(request, in_words(error))
        return None


def shown(draft: ImportDraft, sample: FileSample, body: dict[str, object]) -> dict[str, object]:
    """Return the template context of the mapping page: the preview, the form and the choices."""
    context: dict[str, object] = {
        "preview": _preview(draft, sample, body),
        "first": sample.rows[:10],
        "body": body,
    }
    kind = kind_of(draft.kind)
    if kind.form:
        initial = kind.form.initial_of(body)
        return {**context, "form": kind.form(draft.supplier, sample.columns, initial=initial)}
    fields = kind.importer.columns
    return {
        **context,
        "columns": columns_of(sample, _options(draft, body), fields),
        "targets": targets(fields),
        "transformers": TRANSFORMERS,
        "mappings": choices(draft.supplier, sample.columns) if kind.has_saved_mappings else [],
        "mapping": body.get("mapping", ""),
        "math_transformer": body.get("math_transformer", ""),
    }


def _options(draft: ImportDraft, body: dict[str, object]) -> dict[str, object]:
    """Return the import options in a request body. Ignore invalid math.

    If another field is invalid, return no options. This is not an error: the page requests previews while the
    operator is still typing.
    """
    with suppress(ApiError, ValidationError):
        return options_of(draft, body)
    with suppress(ApiError, ValidationError):
        return options_of(draft, {**body, "math_transformer": ""})
    return {}


def _preview(draft: ImportDraft, sample: FileSample, body: dict[str, object]) -> Preview:
    try:
        return preview(sample, kind_of(draft.kind).importer, options_of(draft, body), draft.supplier_id)
    except (ApiError, ValidationError) as error:
        return Preview(problem=in_words(error))


def _body(request: HttpRequest, draft: ImportDraft, sample: FileSample) -> dict[str, object]:
    """Return the posted mapping in the form of an API request body."""
    kind = kind_of(draft.kind)
    if kind.form:
        return kind.form(draft.supplier, sample.columns, request.POST).body()
    options = _options(draft, draft.body)
    return changed_body(sample, options, draft.body, request.POST.dict(), kind.importer.columns)


def _posted(request: HttpRequest, draft: ImportDraft, sample: FileSample) -> HttpResponse | None:
    """Save the mapping, and run the function of the pressed button. Return None to show the page again."""
    pressed = request.POST.get("do", "")
    try:
        if pressed == "mapping":
            draft.body = {"mapping": name} if (name := request.POST.get("mapping", "")) else {}
        else:
            draft.body = _body(request, draft, sample)
        draft.save(update_fields=["body"])
        return PRESSED[pressed](request, draft) if pressed in PRESSED else _again(draft)
    except FAULTS as error:
        messages.error(request, in_words(error))
        return None


def _discarded(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    """Delete the draft. A worker that is reading the draft's file stops within seconds."""
    discard(draft.pk, draft.blob_id)
    messages.success(request, f"{draft.name} discarded.")
    return HttpResponseRedirect(reverse("admin:import_upload"))


def _again(draft: ImportDraft) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:import_draft", args=[draft.pk]))


def _try(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    job = start(draft, dry_run=True, by=operator_of(request))
    return HttpResponseRedirect(reverse("admin:imports_importjob_change", args=[job.pk]))


def _save(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    """Save the mapping under a name and use it for the draft."""
    body = {key: value for key, value in draft.body.items() if key != "mapping"}
    options = options_of(draft, draft.body)
    saved: dict[str, object] = {
        key: options[key]
        for key in ("field_mapping", "math_transformer", "rows", "left_out")
        if key in options
    }
    name = request.POST.get("name", "").strip()
    serializer = SavedMappingBody(data={**body, "name": name, "field_mapping": []})
    serializer.is_valid(raise_exception=True)
    create_mapping(draft.supplier, draft.kind, name, saved, by=operator_of(request))
    draft.body = {"mapping": name}
    draft.save(update_fields=["body"])
    messages.success(request, f"Mapping {name} saved. {draft.supplier} can use it, too.")
    return _again(draft)


def _automatic(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    """Import all future files of this kind and supplier with the draft's mapping."""
    kind = kind_of(draft.kind)
    options_of(draft, draft.body)  # this call raises if the mapping is unknown or invalid
    options = saved_options(draft.supplier, draft.kind, draft.body)
    save_auto_import(
        draft.supplier, draft.kind, {"options": options, "enabled": True}, by=operator_of(request)
    )
    messages.success(
        request, f"New files of {draft.supplier} in {kind.folder}/ are now imported with this mapping."
    )
    return _again(draft)


PRESSED: dict[str, Callable[[HttpRequest, ImportDraft], HttpResponse]] = {
    "try": _try,
    "save": _save,
    "automatic": _automatic,
}
