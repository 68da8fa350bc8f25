"""Functions that save, replace and delete the views of a list, for the admin and for the portal."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from accounts.models import Retailer, SavedView, Supplier

MOST = 50
"""The maximum number of saved views per person and list."""
LONGEST = 2000
"""The maximum length of a view's parameters."""
PASSING = ("p", "e", "all", "before", "file", "_popup", "_to_field")
"""URL parameters that are not part of a view."""


class ViewForm(forms.ModelForm[SavedView]):
    """The form of a view's name, and whether the whole team sees the view."""

    class Meta:
        model = SavedView
        fields = ("name", "shared")


def query_of(asked: QueryDict) -> str:
    """Return a list's parameters in sorted order, so that equal views compare equal."""
    return urlencode(
        sorted((name, value) for name, values in asked.lists() if name not in PASSING for value in values)
    )


def views_context(
    request: HttpRequest, listed: str, url: str, party: Supplier | Retailer | None = None
) -> dict[str, object]:
    """Return the context of `ui/saved_views.html` and `ui/save_view.html`. Takes one query."""
    query = query_of(request.GET)
    found = SavedView.objects.of_list(listed, party).seen_by(request.user).select_related("owner")
    return {
        "saved_views": [(view, view.query == query, view.owner_id == request.user.pk) for view in found],
        "view_query": query,
        "view_url": url,
        "view_team": _team(party),
    }


def change_views(request: HttpRequest, listed: str, party: Supplier | Retailer | None = None) -> str:
    """Save, replace or delete a view of the user. Return the parameters of the list to show next."""
    query = request.POST.get("query", "").replace("\0", "")[:LONGEST]
    mine = SavedView.objects.of_list(listed, party).filter(owner=request.user.pk)
    if "delete" in request.POST:
        number = request.POST["delete"]
        gone = mine.filter(pk=int(number) if number.isdecimal() and len(number) < 19 else 0)
        messages.success(request, "View deleted.") if gone.delete()[0] else None
    else:
        _keep(request, mine, listed, party, query)
    return query


def _keep(
    request: HttpRequest,
    mine: QuerySet[SavedView],
    listed: str,
    party: Supplier | Retailer | None,
    query: str,
) -> None:
    form = ViewForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter a name of at most 60 characters for the view.")
        return
    name, shared = form.cleaned_data["name"], form.cleaned_data["shared"]
    if mine.count() >= MOST and not mine.filter(name=name).exists():
        messages.error(request, f"You already have {MOST} views of this list. Delete one first.")
        return
    of_party: dict[str, Any] = {party.role.value: party} if party else {}
    mine.update_or_create(
        owner_id=request.user.pk,
        model=listed,
        name=name,
        **of_party,
        defaults={"query": query, "shared": shared},
    )
    messages.success(request, f"View {name} saved{f' for {_team(party)}' if shared else ''}.")


def _team(party: Supplier | Retailer | None) -> str:
    return "your team" if party else "all operators"
