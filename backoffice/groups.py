"""What operators may do: the groups `Operators` (see and act) and `Support` (see only), contract 1."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission

OPERATORS, SUPPORT = "Operators", "Support"

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


def sync_groups(app_config: AppConfig, **kwargs: Any) -> None:
    """Give both groups their permissions, after every migration: new models come with new ones.

    Called for the last app that has models, so that the permissions of all of them are there already.
    """
    using = kwargs["using"]
    ours = Permission.objects.using(using).filter(content_type__app_label__in=APPS)
    _group(OPERATORS, using).permissions.set(ours)
    _group(SUPPORT, using).permissions.set(ours.filter(codename__startswith="view_"))


def _group(name: str, using: str) -> Group:
    group, _ = Group.objects.using(using).get_or_create(name=name)
    return group
