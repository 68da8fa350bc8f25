"""Suppliers and retailers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.scopes import Role


class Party(models.Model):
    """An organisation that trades on the Exchange. Paths of the API contain its id."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    role: ClassVar[Role]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Supplier(Party):
    """A party that sells and ships. It has products, warehouses, stock and fulfillments."""

    role = Role.SUPPLIER

    priority = models.SmallIntegerField(
        default=100, help_text="Routing prefers the lower number if plan and cost are equal."
    )
    safety_stock = models.PositiveIntegerField(
        default=0, help_text="Units per variant and warehouse that are kept back from sale."
    )

    class Meta:
        ordering = ["name"]


class Retailer(Party):
    """A party that buys. It pulls variants, pushes orders and polls their state."""

    role = Role.RETAILER

    class Meta:
        ordering = ["name"]


class OfOneParty(models.Model):
    """The base of models that belong to a supplier or to a retailer. `of_one_party` is their constraint."""

    supplier: models.ForeignKey[Supplier | None, Supplier | None]
    retailer: models.ForeignKey[Retailer | None, Retailer | None]
    supplier_id: int | None

    class Meta:
        abstract = True

    @property
    def party(self) -> Supplier | Retailer:
        party = self.supplier or self.retailer
        assert party is not None  # ensured by the constraint
        return party

    @property
    def role(self) -> Role:
        return Role.SUPPLIER if self.supplier_id else Role.RETAILER


def of_one_party(name: str) -> models.CheckConstraint:
    """Return the constraint of an `OfOneParty` model: exactly one of the two columns is set."""
    return models.CheckConstraint(
        condition=Q(supplier__isnull=False, retailer__isnull=True)
        | Q(supplier__isnull=True, retailer__isnull=False),
        name=name,
    )
