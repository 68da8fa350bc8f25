"""What the apps are called where operators read of them, in the order in which they need them."""

from __future__ import annotations

from django.apps import apps

NAMES = {
    "orders": "Orders",
    "fulfillments": "Fulfillments",
    "catalog": "Catalogue",
    "inventory": "Inventory",
    "imports": "Imports",
    "sftp_ingest": "Upload areas",
    "accounts": "Partners and keys",
    "events": "Events",
    "backoffice": "The service",
    "auth": "Operators",
}


def name_apps() -> None:
    """Give the apps these names: here, where the whole of the admin is seen, rather than in each."""
    for label, name in NAMES.items():
        apps.get_app_config(label).verbose_name = name
