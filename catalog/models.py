"""What suppliers sell (contract 5)."""

from __future__ import annotations

from decimal import Decimal
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import Value
from django.db.models.functions import Coalesce, Now, NullIf

from accounts.models import Retailer, Supplier


def price(**kwargs: object) -> models.DecimalField[Decimal | None, Decimal | None]:
    return models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True, **kwargs)  # type: ignore[arg-type]


class VariantQuerySet(models.QuerySet["Variant"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def for_retailer(self, retailer: Retailer) -> Self:
        """What active partners of this retailer have listed."""
        partners = retailer.partnerships.active().values("supplier_id")
        return self.filter(supplier_id__in=partners, listed=True)


class Variant(models.Model):
    """One thing that can be ordered: a supplier's sku."""

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="variants")
    sku = models.CharField(max_length=100)
    model = models.CharField(max_length=100, blank=True, help_text="Variants of one model form a group.")
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    description_extra = models.TextField(blank=True)
    description_bullets = ArrayField(models.TextField(), default=list, blank=True)
    upc = models.CharField(max_length=12, blank=True)
    ean = models.CharField(max_length=13, blank=True)
    gtin = models.CharField(max_length=14, blank=True)
    id_in_source = models.CharField(max_length=100, blank=True)
    weight = models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True)
    images = models.TextField(blank=True, help_text="URLs, parted by |")
    retail_price = models.DecimalField(max_digits=14, decimal_places=4)
    wholesale_price = price()
    special_sale_price = price()
    special_sale_price_start = models.DateTimeField(null=True, blank=True)
    special_sale_price_end = models.DateTimeField(null=True, blank=True)
    options = models.JSONField(default=list, blank=True)
    properties = models.JSONField(default=list, blank=True)
    listed = models.BooleanField(
        default=True, help_text="Off after the supplier called the sku missing; only listed ones are sold."
    )
    group = models.GeneratedField(
        expression=Coalesce(NullIf(F("model"), Value("")), F("sku")),
        output_field=models.CharField(max_length=100),
        db_persist=True,
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = VariantQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("supplier", "sku", name="variant_sku_once"),
            models.CheckConstraint(
                condition=~Q(sku="") & Q(retail_price__gte=0) & (Q(weight=None) | Q(weight__gte=0)),
                name="variant_sane",
            ),
            models.CheckConstraint(
                condition=(Q(wholesale_price=None) | Q(wholesale_price__gte=0))
                & (Q(special_sale_price=None) | Q(special_sale_price__gte=0)),
                name="variant_prices_sane",
            ),
        ]
        indexes = [
            models.Index("supplier", "group", "id", name="variant_group"),
            models.Index("upc", condition=~Q(upc=""), name="variant_upc"),
        ]

    def __str__(self) -> str:
        return f"{self.sku} {self.title}"
