"""Saved views: the filters and columns of a list, under a name."""

from __future__ import annotations

from typing import Self

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models
from django.db.models import Q

from accounts.models.party import Retailer, Supplier


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def of_list(self, listed: str, party: Supplier | Retailer | None) -> Self:
        """Return the party's views of a list, or the operators' views if `party` is None."""
        of_party = {
            role: party if party and party.role == role else None for role in ("supplier", "retailer")
        }
        return self.filter(model=listed, **of_party)

    def seen_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        return self.filter(Q(owner=user.pk) | Q(shared=True))


class SavedView(models.Model):
    """A named set of filters and columns of a list. Operators' views have no party."""

    owner = models.ForeignKey(User, models.CASCADE, related_name="saved_views")
    supplier = models.ForeignKey(Supplier, models.PROTECT, null=True, related_name="saved_views")
    retailer = models.ForeignKey(Retailer, models.PROTECT, null=True, related_name="saved_views")
    model = models.CharField(max_length=100, help_text="The list, such as orders.order.")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True, help_text="Filters, search and columns.")
    shared = models.BooleanField(default=False, db_default=False, help_text="Visible to the whole team.")

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        # The model was in the app `backoffice`. The previous release still reads the table by this name.
        db_table = "backoffice_savedview"
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                "owner",
                "model",
                "name",
                "supplier",
                "retailer",
                name="saved_view_of_list",
                nulls_distinct=False,
            )
        ]
        indexes = [models.Index("model", "name", condition=Q(shared=True), name="saved_view_shared")]

    def __str__(self) -> str:
        return self.name
