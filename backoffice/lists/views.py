"""The saved views of each admin list."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.exceptions import NotRegistered
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.saved_views import change_views, views_context


def saved_views(listed: ModelAdmin[Any], request: HttpRequest) -> dict[str, object]:
    """Return the template context of the operator's and the shared views. Takes one query."""
    if not request.user.is_authenticated:
        return {}
    url = reverse("admin:save_view", args=[listed.opts.app_label, listed.opts.model_name])
    return views_context(request, listed.opts.label_lower, url)


def save_view(site: AdminSite, request: HttpRequest, app_label: str, model_name: str) -> HttpResponse:
    """Save, replace or delete a view, then redirect to the list."""
    try:
        listed = site.get_model_admin(apps.get_model(app_label, model_name))
    except (LookupError, NotRegistered):
        raise Http404 from None
    if request.method != "POST" or not listed.has_view_permission(request):
        raise PermissionDenied
    query = change_views(request, listed.opts.label_lower)
    url = reverse(f"admin:{app_label}_{model_name}_changelist")
    return HttpResponseRedirect(f"{url}?{query}" if query else url)
