"""The apps' names in the admin, in the order in which operators need them."""

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
    """Set each app's verbose name. The names live here because they form one list for the whole admin."""
    for label, name in NAMES.items():
        apps.get_app_config(label).verbose_name = name
