"""The search page, and the hits below the search box. The page redirects if only one record matches."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from backoffice.navigation.menu import Link, navigation
from backoffice.search.finders import search
from backoffice.search.hits import the_one

LONGEST = 100
SHOWN_WHILE_TYPING = 4
"""The maximum number of hits per kind below the search box."""


def search_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show the hits for `?q=`, or redirect to the only hit or only exact hit. `?all=1` shows all hits."""
    term = _term(request)
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


def search_hits(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Return an HTML fragment with the menu's pages and the hits for `?q=`. Without `?q=`, list all pages."""
    term = _term(request)
    context = {
        "term": term,
        "pages": _pages(site, request, term),
        "groups": search(term, request.user) if term else [],
        "most": f":{SHOWN_WHILE_TYPING}",
    }
    return TemplateResponse(request, "admin/search_hits.html", context)


def _term(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "").replace("\0", "").split())[:LONGEST]


def _pages(site: AdminSite, request: HttpRequest, term: str) -> list[Link]:
    """Return the links of the menu whose name contains the term."""
    links = (link for section in navigation(site, request) for link in section.links)
    return [link for link in links if term.lower() in link.label.lower()]
