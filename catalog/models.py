"""Variants, the goods that suppliers sell, and their changes (contract 5)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.core.validators import MinValueValidator
from django.db import IntegrityError, models, transaction
from django.db.models import Case, F, Func, Q, When
from django.db.models.expressions import Value
from django.db.models.functions import Concat, Left, Now

from accounts.actors import Actor
from accounts.models import Retailer, Supplier
from api.currencies import fraction_errors
from api.errors import ApiError, Invalid
from api.inside_search import trigrams
from api.prefix_search import folded
from catalog.snapshot import take_snapshot_after_commit
from events.changes import differences
from events.recording import record

PRICE_FIELDS = ("retail_price", "wholesale_price", "special_sale_price")
TITLE_FOUND_BY = 60
"""A search compares only this many characters at the beginning of a title."""


class SkuExists(ApiError):
    """The supplier has another variant with this sku."""

    code, status = "sku_exists", 409


def not_negative(name: str) -> list[MinValueValidator]:
    """Return a validator that refuses negative values, so that a form shows the error beside the field."""
    return [MinValueValidator(0, f"A {name} cannot be negative.")]


def price() -> models.DecimalField[Decimal | None, Decimal | None]:
    return models.DecimalField(
        max_digits=14, decimal_places=4, null=True, blank=True, validators=not_negative("price")
    )


def this_change() -> Func:
    """Return a database default: the number of the running transaction.

    It is higher than the numbers of all earlier epochs (`events.epochs`). A trigger overwrites other values.
    """
    return Func(function="change_number")


class VariantQuerySet(models.QuerySet["Variant"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def for_retailer(self, retailer: Retailer) -> Self:
        """Return the listed variants of this retailer's active partners."""
        partners = retailer.partnerships.trading().values("supplier_id")
        return self.filter(supplier_id__in=partners, listed=True)


class Variant(models.Model):
    """A supplier's sku: the smallest thing that can be ordered."""

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="variants", db_index=False)
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
    weight = models.DecimalField(
        max_digits=14, decimal_places=4, null=True, blank=True, validators=not_negative("weight")
    )
    images = models.TextField(blank=True, help_text="URLs, separated by |")
    retail_price = models.DecimalField(max_digits=14, decimal_places=4, validators=not_negative("price"))
    wholesale_price = price()
    special_sale_price = price()
    special_sale_price_start = models.DateTimeField(null=True, blank=True)
    special_sale_price_end = models.DateTimeField(null=True, blank=True)
    options = models.JSONField(default=list, blank=True)
    properties = models.JSONField(default=list, blank=True)
    listed = models.BooleanField(
        default=True,
        help_text="Off after the supplier reported the sku as missing; only listed variants are sold.",
    )
    group = models.GeneratedField(
        # The prefix `m:` or `s:` separates a model from the equal sku of a variant without a model.
        expression=Case(
            When(model="", then=Concat(Value("s:"), F("sku"))), default=Concat(Value("m:"), F("model"))
        ),
        output_field=models.CharField(max_length=102),
        db_persist=True,
    )
    changed_in = models.BigIntegerField(
        db_default=this_change(),
        editable=False,
        help_text="The number of the last change of this row; set by a trigger.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    listed_since = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When it was last listed again or joined its group (a trigger); null: at its creation.",
    )

    objects = VariantQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                "supplier",
                "sku",
                name="variant_sku_once",
                violation_error_message="The supplier has another variant with this sku.",
            ),
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
            models.Index("supplier", "id", name="variant_of_supplier"),
            models.Index("supplier", "group", "id", condition=Q(listed=True), name="variant_group_listed"),
            models.Index("id", condition=Q(listed=False), name="variant_delisted"),
            # Use BRIN: every write changes this column, and a B-tree index would double the cost of writes.
            BrinIndex("changed_in", pages_per_range=16, autosummarize=True, name="variant_changed_in"),
            models.Index("upc", condition=~Q(upc=""), name="variant_upc"),
            models.Index("ean", condition=~Q(ean=""), name="variant_ean"),
            models.Index("gtin", condition=~Q(gtin=""), name="variant_gtin"),
            # Searches by a prefix, in upper or lower case, use these two indexes.
            models.Index(folded("sku"), name="variant_sku_folded"),
            models.Index(folded(Left("title", TITLE_FOUND_BY)), name="variant_title_folded"),
            trigrams("sku", "variant_sku_trigrams"),
            trigrams(Left("title", TITLE_FOUND_BY), "variant_title_trigrams"),
        ]

    def __str__(self) -> str:
        return f"{self.sku} {self.title}"

    @property
    def picture(self) -> str:
        """Return the URL of the main picture. Pages show only pictures over https."""
        urls = (url.strip() for url in self.images.split("|"))
        return next((url for url in urls if url.startswith("https://")), "")

    @classmethod
    def add(cls, supplier: Supplier, values: Mapping[str, object], *, by: Actor) -> Variant:
        """Create a supplier's variant. Raises SkuExists, or Invalid for prices with a wrong fraction."""
        _refuse_fractions(supplier.currency, values)
        variant = cls(supplier=supplier, **values)
        with transaction.atomic():
            variant._write()
            variant._record("variant.created", {"title": variant.title}, by=by)
        variant.refresh_from_db()
        return variant

    def change(self, values: Mapping[str, object], *, by: Actor) -> bool:
        """Set these values and return whether any value changed. Raises the same errors as `add`."""
        with transaction.atomic():
            self.refresh_from_db(from_queryset=Variant.objects.select_for_update())
            changed = differences(self, values)
            if changed:
                _refuse_fractions(self.supplier.currency, {name: values[name] for name in changed})
                for name in changed:
                    setattr(self, name, values[name])
                self._write(changed)
                VariantChange.by(self.pk, changed, by).save(force_insert=True)
                self._record("variant.updated", {"changed": changed}, by=by)
        self.refresh_from_db()
        return bool(changed)

    def _write(self, changed: Mapping[str, object] | None = None) -> None:
        """Insert the variant, or update its changed fields. Raises SkuExists."""
        try:
            with transaction.atomic():
                if changed is None:
                    self.save(force_insert=True)
                else:
                    self.updated_at = Now()
                    self.save(update_fields=[*changed, "updated_at"])
        except IntegrityError as error:
            if "variant_sku_once" not in str(error):
                raise
            message = f"The variant {self.sku} already exists. Change it by PATCH …/variants/{{id}}."
            raise SkuExists.at("sku", message, SkuExists.code) from error

    def _record(self, type: str, data: Mapping[str, object], *, by: Actor) -> None:  # noqa: A002
        data = {"variant_id": self.pk, "sku": self.sku, **data}
        record(type, by=by, area="catalog", supplier=self.supplier, data=data)
        take_snapshot_after_commit()


def _refuse_fractions(currency: str, values: Mapping[str, Any]) -> None:
    """Raise Invalid if a price has a fraction, and the supplier's currency has none."""
    if errors := fraction_errors(currency, {name: values.get(name) for name in PRICE_FIELDS}):
        raise Invalid.of(errors)


class VariantChange(models.Model):
    """A change of a variant: old and new values, the time, and the actor or the line of a file.

    Each writer of variants adds its changes in the same transaction. For speed, the table has no foreign
    keys.
    """

    variant_id = models.BigIntegerField()
    occurred_at = models.DateTimeField(db_default=Now())
    changed = models.JSONField(help_text='By field: {"retail_price": {"from": "5", "to": "6"}}')
    actor = models.CharField(max_length=200, db_default="")
    request_id = models.CharField(max_length=100, db_default="")
    import_id = models.BigIntegerField(null=True)
    line = models.IntegerField(null=True, help_text="The line of the import's file.")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("variant_id", "id", name="variant_change_of_variant")]

    def __str__(self) -> str:
        return f"{', '.join(self.changed)} of variant {self.variant_id}"

    @classmethod
    def by(cls, variant_id: int, changed: Mapping[str, object], by: Actor) -> VariantChange:
        """Return a new, unsaved change of the variant by this actor."""
        return cls(variant_id=variant_id, changed=dict(changed), actor=by.name, request_id=by.request_id)


class Departure(models.Model):
    """The record that a listed variant left its group. A trigger writes it, so that no code can forget it."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="+", db_index=False)
    group = models.CharField(max_length=102)
    changed_in = models.BigIntegerField()
    listed_since = models.DateTimeField(null=True, help_text="When the variant had joined the group.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index("supplier", "changed_in", name="departure_of_supplier")]

    def __str__(self) -> str:
        return f"{self.group} of supplier {self.supplier_id}"


class TakenSnapshot(models.Model):
    """The transactions that had ended at `taken_at`.

    The changes of all other transactions are new to a client that sends `taken_at` as `updated_since`.
    """

    taken_at = models.DateTimeField(db_index=True)
    snapshot = models.TextField(help_text="change_snapshot(): xmin:xmax:unfinished,…")

    class Meta:
        db_table = "catalog_pulse"  # the former name of this model
        ordering = ["taken_at"]

    def __str__(self) -> str:
        return f"{self.snapshot} at {self.taken_at}"
