from __future__ import annotations

from django.db import models


class Kind(models.TextChoices):
    """The content of a file."""

    PRODUCTS = "products"
    INVENTORY = "inventory"
    FULFILLMENTS = "fulfillments"

    @property
    def area(self) -> str:
        """The area of the scopes that cover this kind."""
        return "catalog" if self is Kind.PRODUCTS else self.value

    @property
    def folder(self) -> str:
        """The folder of the upload area for files of this kind."""
        return "tracking" if self is Kind.FULFILLMENTS else self.value
