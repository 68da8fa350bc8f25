"""The groups of the desk: their table, and the actions on all rows of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from accounts.operating.bulk_pages import BulkPages
from accounts.operating.operator_actions import AdminAction
from backoffice.desk.filter_form import DeskForm
from backoffice.desk.gathering import narrowed
from backoffice.desk.groups import SORTS, DeskGroup
from backoffice.desk.items import DeskKind
from backoffice.desk.kinds import BY_NAME


def groups_context(site: AdminSite, request: HttpRequest, groups: Sequence[DeskGroup]) -> dict[str, object]:
    """Return the template context of the table of groups."""
    for group in groups:
        group.actions = _actions(site, request, group.kind)
        if group.party:
            group.may_write = request.user.has_perm(f"accounts.change_{group.party.role.value}")
    beside = request.GET.copy()
    sort = beside.pop("sort", ["due"])[-1] or "due"
    return {
        "groups": groups,
        "sorts": [(name, label, name == sort) for name, label in SORTS.items()],
        "sort_beside": beside.urlencode(),
    }


def act_on_group(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Choose all rows of a group for an action, and redirect to its preview."""
    form = DeskForm(request.GET)
    wanted = form.wanted(request.user.get_username())
    kind = BY_NAME.get(wanted.kind)
    if kind is None or form.errors:
        raise Http404
    chosen = request.POST.get("action")
    action = next((each for each in _actions(site, request, kind) if each.name == chosen), None)
    if action is None:
        raise PermissionDenied
    rows = kind.model._default_manager.filter(pk__in=narrowed(kind, wanted).order_by().values("pk"))
    admin: BulkPages[Any] = _admin(site, kind)
    return admin.choose(request, action, rows)


def _actions(site: AdminSite, request: HttpRequest, kind: DeskKind) -> list[AdminAction[Any]]:
    """Return the kind's actions that the operator may do to many records at once."""
    admin = _admin(site, kind)
    if not isinstance(admin, BulkPages) or not admin.has_act_permission(request):
        return []
    found = [admin.find_action(name) for name, _ in kind.actions]
    return [action for action in found if action and action.bulk]


def _admin(site: AdminSite, kind: DeskKind) -> Any:
    return site.get_model_admin(kind.model)
