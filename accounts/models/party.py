"""Suppliers and retailers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.scopes import Role


class Party(models.Model):
    """An organisation that trades on the Exchange; its id stands in the paths."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    role: ClassVar[Role]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Supplier(Party):
    """Sells and ships: has products, warehouses, stock, and fulfillments."""

    role = Role.SUPPLIER

    priority = models.SmallIntegerField(
        default=100, help_text="Routing asks the lower number first when plan and cost are equal."
    )
    safety_stock = models.PositiveIntegerField(
        default=0, help_text="Pieces per variant and warehouse that are never promised to anyone."
    )

    class Meta:
        ordering = ["name"]


class Retailer(Party):
    """Buys: pulls variants, pushes orders, polls for what became of them."""

    role = Role.RETAILER

    class Meta:
        ordering = ["name"]


class OfOneParty(models.Model):
    """Belongs to a supplier or to a retailer: one of two columns is set, and `of_one_party` holds that."""

    supplier: models.ForeignKey[Supplier | None, Supplier | None]
    retailer: models.ForeignKey[Retailer | None, Retailer | None]
    supplier_id: int | None

    class Meta:
        abstract = True

    @property
    def party(self) -> Supplier | Retailer:
        party = self.supplier or self.retailer
        assert party is not None  # the database holds this
        return party

    @property
    def role(self) -> Role:
        return Role.SUPPLIER if self.supplier_id else Role.RETAILER


def of_one_party(name: str) -> models.CheckConstraint:
    """The constraint of a model that is `OfOneParty`."""
    return models.CheckConstraint(
        condition=Q(supplier__isnull=False, retailer__isnull=True)
        | Q(supplier__isnull=True, retailer__isnull=False),
        name=name,
    )
