from __future__ import annotations

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from accounts.models import Supplier


class ImportPolicy(models.Model):
    """A supplier's approval rule: the limits above which an import waits for a person (contract 12)."""

    supplier = models.OneToOneField(Supplier, on_delete=models.CASCADE, related_name="import_policy")
    zeroed_share = models.DecimalField(
        "share of variants set to 0",
        max_digits=4,
        decimal_places=3,
        default=Decimal("0.3"),
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A full stock file that would set more than this share of the stocked variants to 0 waits.",
    )
    zeroed_least = models.PositiveIntegerField(
        "number of variants set to 0",
        default=100,
        help_text="A file also waits only if it would set more than this many variants to 0.",
    )
    zeroed_in_delta = models.BooleanField(
        "check delta files", default=False, help_text="Apply the rule to delta files as well."
    )
    delisted_share = models.DecimalField(
        "share of variants delisted",
        max_digits=4,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A product file that would delist more than this share of the listed variants waits.",
    )
    price_factor = models.DecimalField(
        "factor of a price change",
        max_digits=8,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="A product file that would change a price by more than this factor waits.",
    )

    class Meta:
        verbose_name = "approval rule"
        constraints = [
            models.CheckConstraint(
                condition=Q(zeroed_share__gte=0, zeroed_share__lte=1)
                & (Q(delisted_share=None) | Q(delisted_share__gte=0, delisted_share__lte=1))
                & (Q(price_factor=None) | Q(price_factor__gte=1)),
                name="import_policy_sane",
            )
        ]

    def __str__(self) -> str:
        return f"Approval rule of {self.supplier}"

    @classmethod
    def of(cls, supplier_id: int) -> ImportPolicy:
        """Return the supplier's policy, or an unsaved default policy."""
        return cls.objects.filter(supplier_id=supplier_id).first() or cls(supplier_id=supplier_id)
