"""Suppliers and retailers."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.scopes import Role
from api.currencies import CURRENCIES, UNKNOWN


def default_currency() -> str:
    return str(settings.CURRENCY)


def validate_currency(code: str) -> None:
    if code not in CURRENCIES:
        raise ValidationError(f"{code} {UNKNOWN}", code="invalid_currency")


class Party(models.Model):
    """An organisation that trades on the Exchange. Paths of the API contain its id."""

    name = models.CharField(max_length=200, unique=True)
    contact_email = models.EmailField(
        blank=True, db_default="", help_text="Gets a mail when operators change keys or logins of this party."
    )
    currency = models.CharField(
        max_length=3,
        default=default_currency,
        db_default=settings.CURRENCY,
        validators=[validate_currency],
        help_text="The code of ISO 4217, such as USD. Amounts are never converted.",
    )
    members_need_second_factor = models.BooleanField(
        default=False, db_default=False, help_text="Members need a second factor to sign in to the portal."
    )
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
    gs1_prefix = models.CharField(
        max_length=12,
        blank=True,
        default="",
        db_default="",
        verbose_name="GS1 prefix",
        validators=[RegexValidator(r"^[0-9]{4,12}$", "Enter the 4 to 12 digits of the GS1 company prefix.")],
        help_text="The GS1 company prefix: cartons of replenishments get their numbers (SSCC) from it.",
    )

    class Meta:
        ordering = ["name"]


class Retailer(Party):
    """A party that buys. It pulls variants, pushes orders and polls their state."""

    role = Role.RETAILER

    class Meta:
        ordering = ["name"]


class OfOneParty(models.Model):
    """The base of models that belong to a supplier or to a retailer. `of_one_party` makes the constraint."""

    supplier: models.ForeignKey[Supplier | None, Supplier | None]
    retailer: models.ForeignKey[Retailer | None, Retailer | None]
    supplier_id: int | None

    class Meta:
        abstract = True

    @property
    def party(self) -> Supplier | Retailer:
        party = self.supplier or self.retailer
        assert party is not None  # the constraint allows no row without a party
        return party

    @property
    def role(self) -> Role:
        return Role.SUPPLIER if self.supplier_id else Role.RETAILER


def of_one_party(name: str, message: str | None = None) -> models.CheckConstraint:
    """Return the constraint of an `OfOneParty` model: exactly one of the two columns is set.

    `message` is the error that a form shows.
    """
    return models.CheckConstraint(
        condition=Q(supplier__isnull=False, retailer__isnull=True)
        | Q(supplier__isnull=True, retailer__isnull=False),
        name=name,
        violation_error_message=message,
    )
