from __future__ import annotations

from django.db import models


class Kind(models.TextChoices):
    """What a file is about."""

    PRODUCTS = "products"
    INVENTORY = "inventory"
    FULFILLMENTS = "fulfillments"

    @property
    def area(self) -> str:
        """The scope that covers it."""
        return "catalog" if self is Kind.PRODUCTS else self.value

    @property
    def folder(self) -> str:
        """Where suppliers put such files in their upload area."""
        return "tracking" if self is Kind.FULFILLMENTS else self.value
