"""The groups of operators and their permissions (contract 1).

`Operators` may view and change all records of APPS and OWN. `Support` may only view these records. The groups
in DESKS may view these records, and change the records of their own apps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.core import checks
from django.db.models import Q

from api.spelling import closest_match

OPERATORS, SUPPORT = "Operators", "Support"
DESKS = {
    "Order desk": ("orders", "fulfillments", "accounts.contactmessage"),
    "Catalogue desk": ("catalog", "inventory", "imports", "accounts.contactmessage"),
    "Partner desk": (
        "accounts",
        "sftp_ingest",
        "inventory.warehouse",
        "imports.importpolicy",
        "imports.autoimport",
        "backoffice.digest",
        "fulfillments.sliptemplate",
        "backoffice.messagetemplate",
    ),
}
"""The apps, or single models, that each of these groups may change."""

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
OWN = ("servicepart", "digest", "messagetemplate")
"""The models of this app for which groups get permissions. Only superusers may change sign-in rules."""


def sync_groups(app_config: AppConfig, **kwargs: Any) -> None:
    """Set the groups' permissions after every migration, because new models bring new permissions.

    The signal of the last app with models calls this function: by then, the permissions of all apps exist.
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


def check_limits(app_configs: Sequence[object] | None = None, **_: object) -> list[checks.CheckMessage]:
    """Return a warning for each group in SECOND_OPERATOR_LIMITS that looks like a misspelt group.

    The real group would have no limit. Other names are no fault: operators may have groups of their own.
    """
    names = {name.lower(): name for name in (OPERATORS, SUPPORT, *DESKS)}
    unknown = [name for name in settings.SECOND_OPERATOR_LIMITS if name not in names.values()]
    near = {name: closest_match(name, names) for name in unknown}
    return [
        checks.Warning(f"SECOND_OPERATOR_LIMITS: {name!r} is not a group. Did you mean {names[match]!r}?")
        for name, match in near.items()
        if match
    ]


def _is_of(permission: Permission, areas: Collection[str]) -> bool:
    of = permission.content_type
    return of.app_label in areas or f"{of.app_label}.{of.model}" in areas


def _group(name: str, using: str) -> Group:
    group, _ = Group.objects.using(using).get_or_create(name=name)
    return group
