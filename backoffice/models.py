"""Models of the back office: sign-in rules, silent parts, digests, notices, comments, message templates."""

from __future__ import annotations

import re
from typing import TypeGuard

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Supplier
from accounts.sign_in import FACTORS


class SignInRule(models.Model):
    """A group's requirements for the sign-in. A group without a rule has no requirements."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="sign_in_rule")
    second_factor_required = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"sign-ins of {self.group}"


class ServicePart(models.Model):
    """A part of the service that fell silent on one host."""

    name = models.CharField(max_length=50, help_text="Such as web or ticker.")
    host = models.CharField(max_length=255, blank=True)
    heard_at = models.DateTimeField(help_text="When one of its processes last gave a sign of life.")
    taken_away_at = models.DateTimeField(
        null=True, help_text="When an operator confirmed that the part was removed."
    )

    class Meta:
        ordering = ["name", "host"]
        verbose_name = "part of the service"
        verbose_name_plural = "parts of the service"
        constraints = [models.UniqueConstraint("name", "host", name="service_part_once")]

    def __str__(self) -> str:
        return f"{self.name} on {self.host}" if self.host else self.name


class Digest(models.Model):
    """A daily mail with open work: an operator's desk, or a supplier's own work."""

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
        help_text="Hour of the day (UTC) from which the mail is sent, 0 to 23.",
    )
    enabled = models.BooleanField(default=True)
    sent_at = models.DateTimeField(null=True, editable=False, help_text="When the digest was last processed.")
    last_error = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, supplier=None) | Q(user=None, supplier__isnull=False),
                name="digest_of_one",
                violation_error_message="A digest belongs to an operator or to a supplier. Choose one.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.supplier}, to {self.address}"


class NoticeBookmark(models.Model):
    """The number of the last event that `partner_notices` has handled. The table has one row."""

    number = models.BigIntegerField()

    def __str__(self) -> str:
        return str(self.number)


class DelayedNotice(models.Model):
    """A notice to a partner that the mail server refused for now. `partner_notices` tries it again."""

    number = models.BigIntegerField(unique=True, help_text="The number of the event.")
    next_try_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"event {self.number}, next try at {self.next_try_at}"


class RecordComment(models.Model):
    """An operator's comment on any record. Comments are never changed, and partners never see them."""

    model = models.CharField(max_length=100, help_text="The model of the record, such as orders.order.")
    record_id = models.BigIntegerField()
    text = models.CharField(max_length=1000)
    by = models.CharField(max_length=150, help_text="The name of a user.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("record_id", "model", name="record_comment_of")]

    def __str__(self) -> str:
        return self.text


NAMES = ("contact", "party", "record", "problem")
"""The names that a message template may contain in braces."""
BRACES = re.compile(r"\{(\w*)\}")


def check_names(text: str) -> None:
    """Raise ValidationError for an unknown name in braces."""
    unknown = sorted(set(BRACES.findall(text)) - {*NAMES})
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in NAMES)
        raise ValidationError(f"{{{unknown[0]}}} is unknown. Use one of: {known}.", code="unknown_name")


class MessageTemplate(models.Model):
    """A prepared subject and text for operators' messages to contacts."""

    name = models.CharField(max_length=60, unique=True)
    subject = models.CharField(max_length=200, validators=[check_names])
    text = models.TextField(
        max_length=5_000,
        validators=[check_names],
        help_text="{contact}, {party}, {record} and {problem} are replaced.",
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def filled(self, values: dict[str, str]) -> tuple[str, str]:
        """Return the subject and the text with the values in place of the names in braces."""
        subject, text = (
            BRACES.sub(lambda found: values.get(found[1], found[0]), each)
            for each in (self.subject, self.text)
        )
        return " ".join(subject.split()), text


def lacks_second_factor(user: AbstractBaseUser | AnonymousUser) -> TypeGuard[AbstractBaseUser]:
    """Return whether the user has no second factor but must have one.

    The setting SECOND_FACTOR may require a second factor of all users who may change records. A sign-in rule
    may require a second factor of a group. Takes one query for a user with a second factor.
    """
    if not user.is_authenticated or user.get_username() in settings.SECOND_FACTOR_EXEMPT:
        return False
    has_one = Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS)
    if settings.SECOND_FACTOR == "required":
        if has_one.exists():
            return False
        if may_act(user):
            return True
    asked = SignInRule.objects.filter(group__user=user.pk, second_factor_required=True)
    return asked.filter(~models.Exists(has_one)).exists()


def may_act(user: AbstractBaseUser) -> bool:
    """Return whether the user may change anything. The members of *Support* may only view."""
    assert isinstance(user, User)
    return any(not name.partition(".")[2].startswith("view_") for name in user.get_all_permissions())
