"""Pages that upload a file, map its columns beside a preview of its first rows, and dry-run it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
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
from api.errors import ApiError, invalid_fields
from backoffice.importing.forms import PieceForm, StockForm, UploadForm, guessed_stock, stock_initial
from backoffice.importing.mappings import choices, suggested
from imports.drafts.chunks import chunk_bytes, forget_chunks, joined, keep_chunk
from imports.drafts.columns import changed_body, columns_of, targets
from imports.drafts.preview import Preview, preview
from imports.drafts.sample import FileSample, read_sample
from imports.drafts.services import create_draft, discard, options_of, saved_options, start
from imports.models import ImportDraft, Kind
from imports.pipeline.errors import Unreadable
from imports.pipeline.importer import importer_of
from imports.pipeline.mapping import ALIASES, TRANSFORMERS
from imports.saved_mappings import create_mapping
from imports.serializers import SavedMappingBody
from imports.services import save_auto_import
from sftp_ingest.area import contents

MAY = "imports.change_importjob"
FAULTS = (ApiError, ValidationError, Unreadable, OSError)


def in_words(error: Exception) -> str:
    """Return the error's message for operators."""
    if isinstance(error, ValidationError):
        error = invalid_fields(error.detail)
    if isinstance(error, ApiError) and error.errors:
        return " ".join(dict.fromkeys(each["message"] for each in error.errors))
    return str(getattr(error, "message", "")) or "The file cannot be read at the moment. Try again."


def upload_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Ask for a file, then redirect to its mapping."""
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
    supplier, kind, file = given["supplier"], Kind(given["kind"]), given["file"]
    if file:
        draft = create_draft(supplier, kind, file.name, file.chunks(), by=by)
    else:
        whole = joined(given["upload"] or UUID(int=0), given["pieces"], by=by)
        draft = create_draft(supplier, kind, given["name"], whole, by=by)
        forget_chunks(given["upload"], by=by)
    try:
        draft.body = _first_body(draft, sample_of(draft))
    except (Unreadable, OSError):
        discard(draft.pk, draft.blob_id)
        raise
    draft.save(update_fields=["body"])
    return draft


def keep_upload_chunk(request: HttpRequest) -> HttpResponse:
    """Store one chunk of a large file; `upload_page` joins the chunks."""
    _require(request)
    form = PieceForm(request.POST, request.FILES)
    if not form.is_valid():
        return JsonResponse(
            {"message": "The request contains no valid chunk of a file. Upload the file again."}, status=400
        )
    given = form.cleaned_data
    try:
        keep_chunk(given["upload"], given["place"], given["piece"].chunks(), by=operator_of(request))
    except ApiError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return JsonResponse({}, status=201)


def _require(request: HttpRequest) -> None:
    if not request.user.has_perm(MAY):
        raise PermissionDenied


def sample_of(draft: ImportDraft) -> FileSample:
    """Read the first rows of a draft. Raises Unreadable, OSError."""
    known = {*importer_of(draft.kind).columns, *ALIASES}
    with contents.local_file(draft.blob) as path:
        return read_sample(path, known)


def _first_body(draft: ImportDraft, sample: FileSample) -> dict[str, Any]:
    """Return the suggested mapping as a request body."""
    if draft.kind == Kind.PRODUCTS:
        name = suggested(draft.supplier, sample.columns)
        return {"mapping": name} if name else {}
    return guessed_stock(draft.supplier, sample.columns)


def draft_page(site: AdminSite, request: HttpRequest, pk: int) -> HttpResponse:
    """Show and save the mapping of a file, and start its dry run."""
    _require(request)
    draft = _find(pk)
    sample = _sample_or_none(draft, request)
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
    found = _preview(draft, sample, _body(request, draft, sample))
    return TemplateResponse(request, "admin/imports/preview.html", {"preview": found, "sample": sample})


def _find(pk: int) -> ImportDraft:
    draft = ImportDraft.objects.select_related("supplier", "blob").filter(pk=pk).first()
    if draft is None:
        raise Http404
    return draft


def _sample_or_none(draft: ImportDraft, request: HttpRequest) -> FileSample | None:
    try:
        return sample_of(draft)
    except (Unreadable, OSError) as error:
        messages.error(request, in_words(error))
        return None


def shown(draft: ImportDraft, sample: FileSample, body: dict[str, Any]) -> dict[str, Any]:
    """Return the page's context for a mapping."""
    context: dict[str, Any] = {
        "preview": _preview(draft, sample, body),
        "first": sample.rows[:10],
        "body": body,
    }
    if draft.kind != Kind.PRODUCTS:
        return {**context, "form": StockForm(draft.supplier, sample.columns, initial=stock_initial(body))}
    return {
        **context,
        "columns": columns_of(sample, _options(draft, body)),
        "targets": targets(),
        "transformers": TRANSFORMERS,
        "mappings": choices(draft.supplier, sample.columns),
        "mapping": body.get("mapping", ""),
        "math_transformer": body.get("math_transformer", ""),
    }


def _options(draft: ImportDraft, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body's options. An invalid body, as while an operator types, has none."""
    with suppress(ApiError, ValidationError):
        return options_of(draft, body)
    with suppress(ApiError, ValidationError):
        return options_of(draft, {**body, "math_transformer": ""})
    return {}


def _preview(draft: ImportDraft, sample: FileSample, body: dict[str, Any]) -> Preview:
    try:
        return preview(sample, importer_of(draft.kind), options_of(draft, body), draft.supplier_id)
    except (ApiError, ValidationError) as error:
        return Preview(problem=in_words(error))


def _body(request: HttpRequest, draft: ImportDraft, sample: FileSample) -> dict[str, Any]:
    """Return the posted mapping as a request body."""
    if draft.kind != Kind.PRODUCTS:
        return StockForm(draft.supplier, sample.columns, request.POST).body()
    return changed_body(sample, _options(draft, draft.body), draft.body, request.POST.dict())


def _posted(request: HttpRequest, draft: ImportDraft, sample: FileSample) -> HttpResponse | None:
    """Handle the pressed button. Return None to show the page again."""
    pressed = request.POST.get("do", "")
    if pressed == "discard":
        discard(draft.pk, draft.blob_id)
        messages.success(request, f"{draft.name} discarded.")
        return HttpResponseRedirect(reverse("admin:import_upload"))
    if pressed == "mapping":
        draft.body = {"mapping": name} if (name := request.POST.get("mapping", "")) else {}
    else:
        draft.body = _body(request, draft, sample)
    draft.save(update_fields=["body"])
    try:
        return PRESSED[pressed](request, draft) if pressed in PRESSED else _again(draft)
    except FAULTS as error:
        messages.error(request, in_words(error))
        return None


def _again(draft: ImportDraft) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:import_draft", args=[draft.pk]))


def _try(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    job = start(draft, dry_run=True, by=operator_of(request))
    return HttpResponseRedirect(reverse("admin:imports_importjob_change", args=[job.pk]))


def _save(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    """Save the mapping under a name and use it for the draft."""
    body = {key: value for key, value in draft.body.items() if key != "mapping"}
    options = options_of(draft, draft.body)
    saved: dict[str, Any] = {
        key: options[key] for key in ("field_mapping", "math_transformer", "rows") if key in options
    }
    name = request.POST.get("name", "").strip()
    serializer = SavedMappingBody(data={**body, "name": name, "field_mapping": []})
    serializer.is_valid(raise_exception=True)
    create_mapping(draft.supplier, name, saved, by=operator_of(request))
    draft.body = {"mapping": name}
    draft.save(update_fields=["body"])
    messages.success(request, f"Mapping {name} saved. {draft.supplier} can use it, too.")
    return _again(draft)


def _automatic(request: HttpRequest, draft: ImportDraft) -> HttpResponse:
    """Import all future files of the supplier with this mapping."""
    kind = Kind(draft.kind)
    options_of(draft, draft.body)  # raises if the mapping is unknown or invalid
    options = saved_options(draft.supplier, kind, draft.body)
    save_auto_import(draft.supplier, kind, {"options": options, "enabled": True}, by=operator_of(request))
    messages.success(
        request, f"New files of {draft.supplier} in {kind.folder}/ are now imported with this mapping."
    )
    return _again(draft)


PRESSED: dict[str, Callable[[HttpRequest, ImportDraft], HttpResponse]] = {
    "try": _try,
    "save": _save,
    "automatic": _automatic,
}
