"""Operators' comments on records. The record's page has the form, and its timeline shows the comments."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.operating.admin_actions import page_after
from accounts.operating.remarks import RecordKey, Remark
from backoffice.models import RecordComment

LONGEST = 1_000


class CommentForm(forms.Form):
    """The form of a new comment, under the timeline of a record."""

    text = forms.CharField(
        max_length=RecordComment._meta.get_field("text").max_length,
        error_messages={"required": "The comment is empty. Write a text, then press Add comment."},
    )


def comments(subjects: Collection[RecordKey]) -> Iterator[Remark]:
    """Yield the newest comments on these records."""
    found = RecordComment.objects.filter(
        model__in={model for model, _ in subjects}, record_id__in={pk for _, pk in subjects}
    )
    for comment in found[:LONGEST]:
        about = (comment.model, comment.record_id)
        if about in subjects:
            yield Remark(about, comment.created_at, "Comment", comment.by, comment.text)


def comment_page(
    site: AdminSite, request: HttpRequest, app_label: str, model_name: str, pk: int
) -> HttpResponse:
    """Store a comment on a record, then redirect to the page that sent the form."""
    record = record_to_change(site, request, app_label, model_name, pk)
    form = CommentForm(request.POST)
    if form.is_valid():
        by = request.user.get_username()
        model = record._meta.label_lower
        RecordComment.objects.create(model=model, record_id=pk, text=form.cleaned_data["text"], by=by)
        messages.success(request, "Comment added.")
    else:
        messages.error(request, str(form.errors["text"][0]))
    own_page = reverse(f"admin:{app_label}_{model_name}_change", args=[pk])
    return HttpResponseRedirect(page_after(request) or own_page)


def record_to_change(site: AdminSite, request: HttpRequest, app_label: str, model_name: str, pk: int) -> Any:
    """Find a record by model and id. Raises Http404, or PermissionDenied if the user may not change it."""
    try:
        model = apps.get_model(app_label, model_name)
    except LookupError as error:
        raise Http404 from error
    if not site.is_registered(model):
        raise Http404
    if not request.user.has_perm(f"{app_label}.change_{model_name}"):
        raise PermissionDenied
    record = model._default_manager.filter(pk=pk).first()
    if record is None:
        raise Http404
    return record
