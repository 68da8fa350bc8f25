"""The types of events that partners can choose, by area.

Later versions may add types. A webhook without `types` also receives new types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from accounts.scopes import Role, scopes_of
from api.spelling import closest_match
from events.models import areas_of

IMPORTS = (
    *("import.queued", "import.started", "import.awaiting_approval", "import.approved", "import.succeeded"),
    *("import.failed", "import.retried", "import.cancel_requested", "import.canceled"),
)
AUTO_IMPORTS = ("auto_import.created", "auto_import.updated", "auto_import.deleted")
TRADE = ("trade.suspended", "trade.resumed")
MAPPINGS = ("import_mapping.created", "import_mapping.updated", "import_mapping.deleted")
OF_SUPPLIERS: Final[dict[str, tuple[str, ...]]] = {
    "fulfillments": IMPORTS,
    "catalog": ("variant.created", "variant.updated", *TRADE, *MAPPINGS, *IMPORTS, *AUTO_IMPORTS),
    "inventory": (
        *("inventory.updated", "inventory.adjusted", "warehouse.created", "warehouse.updated"),
        *("import_policy.created", "import_policy.updated", "import_policy.deleted"),
        *IMPORTS,
        *AUTO_IMPORTS,
    ),
}
OF_RETAILERS: Final[dict[str, tuple[str, ...]]] = {
    "orders": (
        *("order.created", "order.address_corrected", "order.cancel_requested", "order.held"),
        *("order.released", "order.routed_again", "order.stock_arrived", "order.wait_ended", "order.erased"),
        *("order.ship_until_changed", "order.stock_expected"),
        *("order.processing", "order.exception", "order.completed", "order.canceled"),
    ),
    "catalog": TRADE,
}
TESTED: Final = "webhook.tested"
"""The type of the event that `POST …/test` sends to one webhook. It is in no feed."""


_REGISTERED: dict[str, tuple[str, ...]] = {}


def register(area: str, types: Iterable[str]) -> None:
    """Add types of events that suppliers and retailers can receive. Other apps call this in `ready()`."""
    _REGISTERED[area] = tuple(types)


def types_of(role: Role, areas: Iterable[str]) -> list[str]:
    """Return the types that a party of this role can receive in these areas."""
    by_area = OF_SUPPLIERS if role == Role.SUPPLIER else OF_RETAILERS
    return sorted({name for area in areas for name in (*by_area.get(area, ()), *_REGISTERED.get(area, ()))})


def unknown_type(name: str, known: Sequence[str], role: Role) -> str:
    """Return the message for a type that no party of this role can receive."""
    other = Role.RETAILER if role == Role.SUPPLIER else Role.SUPPLIER
    if name in types_of(other, areas_of(scopes_of(other))):
        hint = " For new orders choose fulfillment.created." if name == "order.created" else ""
        return f"Only {other}s receive this type.{hint}"
    near = closest_match(name, known)
    hint = f"Did you mean {near}?" if near else "/v3/docs/api-guide#events lists them."
    return f"Unknown type of event. {hint}"
