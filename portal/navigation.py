"""The menu of the portal, in the order in which it is shown (contract 20)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from django.urls import reverse

from accounts.scopes import Role

BOTH = frozenset(Role)
ONLY_SUPPLIERS = frozenset({Role.SUPPLIER})
ONLY_RETAILERS = frozenset({Role.RETAILER})


@dataclass(frozen=True)
class PortalSection:
    """A line of the menu. `current` is "page" for the section of the shown page."""

    title: str
    url_name: str
    icon: str
    sides: frozenset[Role] = BOTH
    current: str = ""
    links: list[object] = field(default_factory=list)

    @property
    def url(self) -> str:
        return reverse(f"portal:{self.url_name}")


SECTIONS = (
    PortalSection("Today", "today", "house"),
    PortalSection("Orders", "retailer_orders", "package", ONLY_RETAILERS),
    PortalSection("Catalog", "catalog", "shirt", ONLY_RETAILERS),
    PortalSection("Suppliers", "suppliers", "handshake", ONLY_RETAILERS),
    PortalSection("Returns", "retailer_returns", "history", ONLY_RETAILERS),
    PortalSection("Orders", "supplier_orders", "package", ONLY_SUPPLIERS),
    PortalSection("Quick ship", "quick_ship", "check", ONLY_SUPPLIERS),
    PortalSection("Products", "products", "shirt", ONLY_SUPPLIERS),
    PortalSection("Stock", "stock", "inbox", ONLY_SUPPLIERS),
    PortalSection("Files", "files", "folder", ONLY_SUPPLIERS),
    PortalSection("Returns", "supplier_returns", "history", ONLY_SUPPLIERS),
    PortalSection("Performance", "performance", "chart-column", ONLY_SUPPLIERS),
    PortalSection("Team", "team", "user-round"),
    PortalSection("Connections", "connections", "key-round"),
)


def navigation(side: Role, current: str = "") -> list[PortalSection]:
    """Return the menu for suppliers or for retailers, with the current section marked."""
    shown = [section for section in SECTIONS if side in section.sides]
    return [replace(each, current="page" if each.title == current else "") for each in shown]
