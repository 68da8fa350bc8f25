"""Roles and scopes: what a party's key may do (contract 1)."""

from __future__ import annotations

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

# Existing clients of this interface ask for variants, products and stock under these names.
ALIASES = {
    "variants": "catalog",
    "products": "catalog",
    "catalogue": "catalog",
    "stock": "inventory",
    "inventories": "inventory",
    "order": "orders",
    "fulfillment": "fulfillments",
}


def scopes_of(role: Role) -> frozenset[Scope]:
    """All that a role allows."""
    return ROLE_SCOPES[role]


def parse_scope(text: str) -> Scope:
    """Read one scope in either order, `catalog:read` or `read:variants`. ValueError if there is none such."""
    first, _, second = text.strip().lower().partition(":")
    if first in ("read", "write"):
        first, second = second, first
    return Scope(f"{ALIASES.get(first, first)}:{second}")


def parse_scopes(texts: Iterable[str]) -> frozenset[Scope]:
    return frozenset(parse_scope(text) for text in texts)
