"""The agreement between a retailer and a supplier."""

from __future__ import annotations

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now

from accounts.models.party import Retailer, Supplier


class ServiceType(models.TextChoices):
    """A service type: the kind of sale for which a partnership lists variants (contract 5)."""

    ECOMMERCE = "ecommerce"
    MARKETPLACE = "marketplace"
    WHOLESALE = "wholesale"


def all_service_types() -> list[str]:
    return list(ServiceType.values)


class PartnershipQuerySet(models.QuerySet["Partnership"]):
    def trading(self) -> Self:
        """Return the active partnerships without a suspension of the partnership or of one of its parties."""
        return self.filter(is_trading=True)

    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class CancelationDefault(models.TextChoices):
    """The assumed answer of a supplier that does not answer a cancellation in time."""

    WAIT = "wait", "wait for the supplier"
    APPROVE = "approve", "approved"
    REFUSE = "refuse", "refused"


class CancelBeforeCapture(models.TextChoices):
    """The handling of a cancellation before the supplier has captured the fulfillment."""

    ASK = "ask", "ask the supplier"
    AT_ONCE = "at_once", "cancel at once"


class WhenShort(models.TextChoices):
    """The handling of units that no partner has in stock (contract 13)."""

    SHIP_PARTIAL = "ship_partial", "let the supplier decide"
    WAIT = "wait", "wait for stock"
    REFUSE = "refuse", "refuse the order"

    def with_partner(self, *, refuses_short: bool) -> WhenShort:
        """Return the handling at a partner.

        If the partner refuses short orders, `ship_partial` becomes `refuse`.
        """
        return WhenShort.REFUSE if self is WhenShort.SHIP_PARTIAL and refuses_short else self


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
        help_text="Active and not suspended. A trigger sets it.",
    )
    refuse_short_orders = models.BooleanField(
        default=False, help_text="Refuse an order that stock cannot cover, instead of passing on a part."
    )
    when_short = models.CharField(
        max_length=12,
        choices=WhenShort.choices,
        default=WhenShort.SHIP_PARTIAL,
        db_default=WhenShort.SHIP_PARTIAL,
        help_text="The handling of units that stock cannot cover, unless the order sets it.",
    )
    max_wait_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Days that units may wait for stock without a supplier; then they are canceled. Empty: no "
        "limit.",
    )
    max_units_per_line = models.PositiveIntegerField(
        default=100_000,
        db_default=100_000,
        validators=[MinValueValidator(1)],
        help_text="The largest number of units of one variant in an order.",
    )
    strict_addresses = models.BooleanField(
        default=False, db_default=False, help_text="Refuse orders with an unknown country."
    )
    hours_to_capture = hours("Hours from the order until the supplier has captured its fulfillment.")
    hours_to_accept = hours("Hours from the order until the supplier has accepted it.")
    hours_to_ship = hours("Hours from the acceptance until all units are shipped.")
    hours_to_answer = hours("Hours that the supplier has to answer a cancellation.")
    cancelation_default = models.CharField(
        max_length=10,
        choices=CancelationDefault.choices,
        default=CancelationDefault.WAIT,
        help_text="The assumed answer to a cancellation after the time to answer.",
    )
    cancel_before_capture = models.CharField(
        max_length=10,
        choices=CancelBeforeCapture.choices,
        default=CancelBeforeCapture.ASK,
        db_default=CancelBeforeCapture.ASK,
        help_text="The handling of a cancellation while the supplier has never captured the fulfillment.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = PartnershipQuerySet.as_manager()

    class Meta:
        ordering = ["retailer_id", "supplier_id"]
        constraints = [
            models.UniqueConstraint(
                "retailer",
                "supplier",
                name="partnership_once",
                violation_error_message="This retailer and this supplier are partners already."
                " Change their partnership instead.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.retailer} / {self.supplier}"
