"""The search page, which redirects when only one record can be meant."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from backoffice.search.finders import search
from backoffice.search.hits import the_one

LONGEST = 100


def search_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show the hits for `?q=`, or redirect to the only (exact) hit. `?all=1` always shows all hits."""
    term = " ".join(request.GET.get("q", "").replace("\0", "").split())[:LONGEST]
    groups = search(term, request.user) if term else []
    only = the_one(groups)
    if only is not None and "all" not in request.GET:
        return HttpResponseRedirect(only.url)
    context = {
        **site.each_context(request),
        "title": f"Search: {term}" if term else "Search",
        "term": term,
        "groups": groups,
    }
    return TemplateResponse(request, "admin/search.html", context)
