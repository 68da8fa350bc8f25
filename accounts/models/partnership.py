"""What a retailer and a supplier have agreed."""

from __future__ import annotations

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.models.party import Retailer, Supplier


class ServiceType(models.TextChoices):
    """How a retailer sells what it pulls (contract 5)."""

    ECOMMERCE = "ecommerce"
    MARKETPLACE = "marketplace"
    WHOLESALE = "wholesale"


def all_service_types() -> list[str]:
    return list(ServiceType.values)


class PartnershipQuerySet(models.QuerySet["Partnership"]):
    def trading(self) -> Self:
        """Those that are active, and neither suspended themselves nor by a party that is."""
        return self.filter(is_trading=True)

    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class CancelationDefault(models.TextChoices):
    """What counts as the answer of a supplier that did not answer a cancellation in time."""

    WAIT = "wait", "wait for the supplier"
    APPROVE = "approve", "approved"
    REFUSE = "refuse", "refused"


class WhenShort(models.TextChoices):
    """What becomes of pieces that no partner has in stock (contract 13)."""

    SHIP_PARTIAL = "ship_partial", "pass them on short"
    WAIT = "wait", "wait for stock"
    REFUSE = "refuse", "refuse the order"


def hours(help_text: str) -> models.PositiveSmallIntegerField[int | None, int | None]:
    return models.PositiveSmallIntegerField(null=True, blank=True, help_text=f"{help_text} Empty: no limit.")


class Partnership(models.Model):
    """The trading relation of one retailer and one supplier."""

    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, related_name="partnerships")
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="partnerships")
    retailer_erp_id = models.CharField(
        max_length=100, blank=True, help_text="The retailer's number in the supplier's ERP."
    )
    retailer_shipper_account = models.CharField(
        max_length=100, blank=True, help_text="The carrier account that the supplier ships on."
    )
    service_types = ArrayField(
        models.CharField(max_length=20, choices=ServiceType.choices), default=all_service_types
    )
    is_active = models.BooleanField(default=True)
    is_trading = models.BooleanField(
        default=True,
        db_default=True,
        editable=False,
        help_text="Active, and nothing of it is suspended; set by a trigger.",
    )
    refuse_short_orders = models.BooleanField(
        default=False, help_text="Refuse an order that stock cannot cover, rather than pass it on short."
    )
    when_short = models.CharField(
        max_length=12,
        choices=WhenShort.choices,
        default=WhenShort.SHIP_PARTIAL,
        db_default=WhenShort.SHIP_PARTIAL,
        help_text="What becomes of pieces that stock cannot cover, where the order itself does not say.",
    )
    strict_addresses = models.BooleanField(
        default=False, db_default=False, help_text="Refuse orders whose country is not known."
    )
    hours_to_capture = hours("Hours from the order until the supplier has captured its fulfillment.")
    hours_to_accept = hours("Hours from the order until the supplier has accepted it.")
    hours_to_ship = hours("Hours from the acceptance until everything is shipped.")
    hours_to_answer = hours("Hours that the supplier has to answer a cancellation.")
    cancelation_default = models.CharField(
        max_length=10,
        choices=CancelationDefault.choices,
        default=CancelationDefault.WAIT,
        help_text="What an unanswered cancellation counts as, when the time to answer is over.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = PartnershipQuerySet.as_manager()

    class Meta:
        ordering = ["retailer_id", "supplier_id"]
        constraints = [models.UniqueConstraint("retailer", "supplier", name="partnership_once")]

    def __str__(self) -> str:
        return f"{self.retailer} / {self.supplier}"
