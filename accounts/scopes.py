"""Roles and scopes: the rights of a party's key (contract 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from django.db import models


class Role(StrEnum):
    SUPPLIER = "supplier"
    RETAILER = "retailer"


class Scope(models.TextChoices):
    FULFILLMENTS_READ = "fulfillments:read"
    FULFILLMENTS_WRITE = "fulfillments:write"
    CATALOG_READ = "catalog:read"
    CATALOG_WRITE = "catalog:write"
    INVENTORY_READ = "inventory:read"
    INVENTORY_WRITE = "inventory:write"
    ORDERS_READ = "orders:read"
    ORDERS_WRITE = "orders:write"


ROLE_SCOPES = {
    Role.SUPPLIER: frozenset(Scope) - {Scope.ORDERS_READ, Scope.ORDERS_WRITE},
    Role.RETAILER: frozenset(
        {Scope.CATALOG_READ, Scope.INVENTORY_READ, Scope.ORDERS_READ, Scope.ORDERS_WRITE}
    ),
}

# The accepted words for each area and each verb. For example, `stock:view` means `inventory:read`.
AREAS = {
    "catalog": ("catalog", "catalogue", "catalogs", "variants", "variant", "products", "product"),
    "inventory": ("inventory", "inventories", "stock"),
    "orders": ("orders", "order"),
    "fulfillments": ("fulfillments", "fulfillment"),
}
ALIASES = {name: area for area, names in AREAS.items() for name in names}
VERBS = dict.fromkeys(("read", "get", "list", "view"), "read")
VERBS |= dict.fromkeys(("write", "create", "update"), "write")
# A scope such as `read:suppliers` names a role, by its path prefix, instead of an area such as `catalog`.
# This scope covers all areas of the role.
PARTIES = {"suppliers": Role.SUPPLIER, "supplier": Role.SUPPLIER} | {
    "retailers": Role.RETAILER,
    "retailer": Role.RETAILER,
}
SEPARATOR = re.compile(r"[:._/]")


def scopes_of(role: Role) -> frozenset[Scope]:
    return ROLE_SCOPES[role]


def parse_scope(text: str) -> frozenset[Scope]:
    """Return the scopes that a text covers, such as `catalog:read`, `read:variants` or `read_products`.

    `read:suppliers` covers all read scopes of a supplier's key. Raises ValueError for an unknown scope.
    """
    parts = SEPARATOR.split(text.strip().lower())
    if len(parts) == 2 and parts[0] in VERBS:
        parts.reverse()
    if len(parts) != 2 or parts[1] not in VERBS:
        raise ValueError(f"{text!r} is not a scope")
    area, verb = parts[0], VERBS[parts[1]]
    if area in PARTIES:
        return frozenset(scope for scope in ROLE_SCOPES[PARTIES[area]] if scope.endswith(f":{verb}"))
    return frozenset({Scope(f"{ALIASES.get(area, area)}:{verb}")})


def parse_scopes(texts: Iterable[str]) -> frozenset[Scope]:
    return frozenset(scope for text in texts for scope in parse_scope(text))
