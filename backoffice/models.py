"""What is ours of operators: their sign-ins, mail and views; and parts of the service that they miss."""

from __future__ import annotations

from typing import TypeGuard

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from accounts.models import Supplier

# A recovery code stands in for a lost device; whoever has nothing else has no second factor.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class SignInRule(models.Model):
    """What a group asks of its members' sign-ins; a group without a row asks nothing."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="sign_in_rule")
    second_factor_required = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"sign-ins of {self.group}"


class ServicePart(models.Model):
    """A part of the service on one host that fell silent, for as long as operators have to do with it."""

    name = models.CharField(max_length=50, help_text="Such as web or ticker.")
    host = models.CharField(max_length=255, blank=True)
    heard_at = models.DateTimeField(help_text="When one of its processes last gave a sign of life.")
    taken_away_at = models.DateTimeField(null=True, help_text="When an operator said that it is not missed.")

    class Meta:
        ordering = ["name", "host"]
        verbose_name = "part of the service"
        verbose_name_plural = "parts of the service"
        constraints = [models.UniqueConstraint("name", "host", name="service_part_once")]

    def __str__(self) -> str:
        return f"{self.name} on {self.host}" if self.host else self.name


class Digest(models.Model):
    """A mail a day with what waits: for an operator all that he may see, for a supplier its own work."""

    user = models.OneToOneField(
        User, models.CASCADE, null=True, blank=True, related_name="digest", help_text="An operator."
    )
    supplier = models.OneToOneField(
        Supplier, models.CASCADE, null=True, blank=True, related_name="digest", help_text="Or a supplier."
    )
    address = models.EmailField()
    hour = models.PositiveSmallIntegerField(
        default=6,
        validators=[MaxValueValidator(23)],
        help_text="From which hour of the day on, UTC: 0 to 23.",
    )
    enabled = models.BooleanField(default=True)
    sent_at = models.DateTimeField(null=True, editable=False, help_text="When it was last looked at.")
    last_error = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, supplier=None) | Q(user=None, supplier__isnull=False),
                name="digest_of_one",
                violation_error_message="A digest is an operator's or a supplier's: choose one of the two.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.supplier}, to {self.address}"


class SavedView(models.Model):
    """A list of the admin as somebody has narrowed it, under a name."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    model = models.CharField(max_length=100, help_text="Whose list: orders.order.")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True, help_text="Filters, search and columns.")
    shared = models.BooleanField(default=False, db_default=False, help_text="For all operators.")

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint("owner", "model", "name", name="saved_view_once")]
        indexes = [models.Index("model", "name", condition=models.Q(shared=True), name="saved_view_shared")]

    def __str__(self) -> str:
        return self.name


def lacks_second_factor(user: AbstractBaseUser | AnonymousUser) -> TypeGuard[AbstractBaseUser]:
    """Whether somebody must set a second factor up before anything else: one query."""
    if not user.is_authenticated:
        return False
    asked = SignInRule.objects.filter(group__user=user.pk, second_factor_required=True)
    has_one = Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS)
    return asked.filter(~models.Exists(has_one)).exists()
