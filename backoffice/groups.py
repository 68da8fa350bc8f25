"""What operators may do: the groups `Operators` (see and act) and `Support` (see only), contract 1.

Between the two are desks: they see all, and act on what is theirs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

OPERATORS, SUPPORT = "Operators", "Support"
DESKS = {
    "Order desk": ("orders", "fulfillments"),
    "Catalogue desk": ("catalog", "inventory", "imports"),
    "Partner desk": (
        "accounts",
        "sftp_ingest",
        "inventory.warehouse",
        "imports.importpolicy",
        "imports.autoimport",
        "backoffice.digest",
    ),
}
"""Of each desk the apps, or single models of them, that it acts on."""

APPS = (
    "accounts",
    "events",
    "sftp_ingest",
    "imports",
    "catalog",
    "inventory",
    "fulfillments",
    "orders",
)
OWN = ("servicepart", "digest")
"""Of the back office itself; who must sign in how is for superusers."""


def sync_groups(app_config: AppConfig, **kwargs: Any) -> None:
    """Give the groups their permissions, after every migration: new models come with new ones.

    Called for the last app that has models, so that the permissions of all of them are there already.
    """
    using = kwargs["using"]
    own = Q(content_type__app_label="backoffice", content_type__model__in=OWN)
    ours = Permission.objects.using(using).filter(own | Q(content_type__app_label__in=APPS))
    _group(OPERATORS, using).permissions.set(ours)
    seen = ours.filter(codename__startswith="view_")
    _group(SUPPORT, using).permissions.set(seen)
    for name, areas in DESKS.items():
        mine = [each for each in ours.select_related("content_type") if _is_of(each, areas)]
        _group(name, using).permissions.set([*seen, *mine])


def _is_of(permission: Permission, areas: Collection[str]) -> bool:
    of = permission.content_type
    return of.app_label in areas or f"{of.app_label}.{of.model}" in areas


def _group(name: str, using: str) -> Group:
    group, _ = Group.objects.using(using).get_or_create(name=name)
    return group
