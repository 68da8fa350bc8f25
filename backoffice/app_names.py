"""The names of apps and fields in the admin."""

from __future__ import annotations

import re

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
"""The names of the apps, in the order in which operators need them."""

MODELS = {"imports.ImportJob": ("import", "imports"), "inventory.StockLevel": ("stock", "stock")}
"""Singular and plural names for models whose own names are technical."""

ABBREVIATION = re.compile(r"\b(api|csv|ean|erp|gtin|id|sftp|sku|ssh|upc|url)\b", re.IGNORECASE)


def name_apps_and_fields() -> None:
    """Set the names of apps and of some models, and write abbreviations in labels with capital letters.

    Django derives a label from the name of its field, so `sku` would be shown as *Sku*. Lists, forms, filters
    and exports show the changed labels. The labels are set after the models are loaded, so no migration
    contains them.
    """
    for model_label, (one, many) in MODELS.items():
        meta = apps.get_model(model_label)._meta
        meta.verbose_name, meta.verbose_name_plural = one, many
    for label, name in NAMES.items():
        app = apps.get_app_config(label)
        app.verbose_name = name
        for model in app.get_models():
            for field in model._meta.fields:
                field.verbose_name = with_abbreviations(str(field.verbose_name))


def with_abbreviations(label: str) -> str:
    """Return the label with its abbreviations in capital letters."""
    return ABBREVIATION.sub(lambda word: word[0].upper(), label)
