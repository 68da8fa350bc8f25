"""The roles of members, and the rights of each role (contract 20)."""

from __future__ import annotations

from enum import StrEnum

from django.db import models


class Right(StrEnum):
    """A group of records that a member may change. Every member may read all records except secrets."""

    ORDERS = "orders"
    CATALOG = "catalog"
    CONNECTIONS = "connections"
    MEMBERS = "members"
    MESSAGES = "messages"


class MemberRole(models.TextChoices):
    """The role of a member in its party."""

    OWNER = "owner", "Owner"
    ORDERS = "orders", "Orders"
    CATALOG = "catalog", "Catalog"
    DEVELOPER = "developer", "Developer"
    VIEWER = "viewer", "Viewer"


RIGHTS: dict[MemberRole, frozenset[Right]] = {
    MemberRole.OWNER: frozenset(Right),
    MemberRole.ORDERS: frozenset({Right.ORDERS, Right.MESSAGES}),
    MemberRole.CATALOG: frozenset({Right.CATALOG, Right.MESSAGES}),
    MemberRole.DEVELOPER: frozenset({Right.CONNECTIONS, Right.MESSAGES}),
    MemberRole.VIEWER: frozenset(),
}

ABOUT: dict[MemberRole, str] = {
    MemberRole.OWNER: "everything, including members and connections",
    MemberRole.ORDERS: "orders, fulfillments, parcels, returns and packing slips",
    MemberRole.CATALOG: "products, stock, files and mappings",
    MemberRole.DEVELOPER: "API keys, webhooks and SFTP logins",
    MemberRole.VIEWER: "read everything except secrets",
}


def roles_with(right: Right) -> list[MemberRole]:
    """Return the roles that have a right, with the owner last. Error pages name these roles."""
    return [role for role in (*MemberRole, MemberRole.OWNER) if right in RIGHTS[role]][1:]


def described_choices() -> list[tuple[str, str]]:
    """Return the roles for a form, each with its description."""
    return [(role.value, f"{role.label}: {ABOUT[role]}") for role in MemberRole]
