"""Saved views: named filters and columns of a list, private or shared with all operators."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.apps import apps
from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.exceptions import NotRegistered
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from backoffice.models import SavedView

MOST = 50
"""Maximum number of saved views per operator and list."""
PASSING = ("p", "e", "all", "_popup", "_to_field")
"""URL parameters that are not part of a view."""


class ViewForm(forms.ModelForm[SavedView]):
    """The form that names a view."""

    class Meta:
        model = SavedView
        fields = ("name", "shared")


def views_context(listed: ModelAdmin[Any], request: HttpRequest) -> dict[str, Any]:
    """Return the template context of the operator's and the shared views. Takes one query."""
    if not request.user.is_authenticated:
        return {}
    query = query_of(request)
    found = SavedView.objects.filter(Q(owner=request.user.pk) | Q(shared=True), model=listed.opts.label_lower)
    return {
        "saved_views": [(view, view.query == query, view.owner_id == request.user.pk) for view in found],
        "view_query": query,
        "view_url": reverse("admin:save_view", args=[listed.opts.app_label, listed.opts.model_name]),
    }


def query_of(request: HttpRequest) -> str:
    """Return the list's parameters in sorted order, so that equal views compare equal."""
    lists = request.GET.lists()
    return urlencode(
        sorted((name, value) for name, values in lists if name not in PASSING for value in values)
    )


def save_view(site: AdminSite, request: HttpRequest, app_label: str, model_name: str) -> HttpResponse:
    """Save, replace or delete a view, then redirect to the list."""
    try:
        listed = site.get_model_admin(apps.get_model(app_label, model_name))
    except (LookupError, NotRegistered):
        raise Http404 from None
    if request.method != "POST" or not listed.has_view_permission(request):
        raise PermissionDenied
    query = request.POST.get("query", "")[:2000]
    mine = SavedView.objects.filter(owner=request.user.pk, model=listed.opts.label_lower)
    if "delete" in request.POST:
        number = request.POST["delete"]
        gone = mine.filter(pk=int(number) if number.isdecimal() and len(number) < 19 else 0)
        messages.success(request, "View deleted.") if gone.delete()[0] else None
    else:
        _keep(request, listed, mine, query)
    url = reverse(f"admin:{app_label}_{model_name}_changelist")
    return HttpResponseRedirect(f"{url}?{query}" if query else url)


def _keep(request: HttpRequest, listed: ModelAdmin[Any], mine: Any, query: str) -> None:
    form = ViewForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The view needs a name of at most 60 characters. Enter a shorter name.")
        return
    name, shared = form.cleaned_data["name"], form.cleaned_data["shared"]
    if mine.count() >= MOST and not mine.filter(name=name).exists():
        messages.error(request, f"You already have {MOST} views of this list. Delete one first.")
        return
    SavedView.objects.update_or_create(
        owner_id=request.user.pk,
        model=listed.opts.label_lower,
        name=name,
        defaults={"query": query, "shared": shared},
    )
    messages.success(request, f"View {name} saved{' for all operators' if shared else ''}.")
