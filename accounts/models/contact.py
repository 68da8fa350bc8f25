"""The contacts of a party, for messages of operators."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now

from accounts.models.party import OfOneParty, Retailer, Supplier, of_one_party


class Contact(OfOneParty):
    """A person at a supplier or a retailer, with mail address and telephone number."""

    supplier = models.ForeignKey(
        Supplier, on_delete=models.PROTECT, null=True, blank=True, related_name="contacts"
    )
    retailer = models.ForeignKey(
        Retailer, on_delete=models.PROTECT, null=True, blank=True, related_name="contacts"
    )
    name = models.CharField(max_length=200)
    job = models.CharField("role", max_length=100, blank=True, help_text="Such as Warehouse or Accounts.")
    email = models.EmailField("mail address", blank=True)
    telephone = models.CharField(
        max_length=40,
        blank=True,
        validators=[RegexValidator(r"^\+?[0-9 ()/.-]{3,}$", "Write digits, such as +44 20 7946 0958.")],
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            of_one_party(
                "contact_of_one_party", "A contact belongs to a supplier or to a retailer. Choose one."
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.party})"
