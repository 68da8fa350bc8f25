from __future__ import annotations

from django.db import models


class Kind(models.TextChoices):
    """What a file is about."""

    PRODUCTS = "products"
    INVENTORY = "inventory"

    @property
    def area(self) -> str:
        """The scope that covers it."""
        return "catalog" if self is Kind.PRODUCTS else "inventory"
