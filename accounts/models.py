"""Who trades here: suppliers, retailers, what they agreed, and the keys they come in with."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.rates import validate_rate
from accounts.scopes import Role, Scope, scopes_of


class Party(models.Model):
    """An organisation that trades on the Exchange; its id stands in the paths."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    role: ClassVar[Role]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Supplier(Party):
    """Sells and ships: has products, warehouses, stock, and fulfillments."""

    role = Role.SUPPLIER

    priority = models.SmallIntegerField(
        default=100, help_text="Routing asks the lower number first when plan and cost are equal."
    )
    safety_stock = models.PositiveIntegerField(
        default=0, help_text="Pieces per variant and warehouse that are never promised to anyone."
    )

    class Meta:
        ordering = ["name"]


class Retailer(Party):
    """Buys: pulls variants, pushes orders, polls for what became of them."""

    role = Role.RETAILER

    class Meta:
        ordering = ["name"]


class ServiceType(models.TextChoices):
    """How a retailer sells what it pulls (contract 5)."""

    ECOMMERCE = "ecommerce"
    MARKETPLACE = "marketplace"
    WHOLESALE = "wholesale"


def all_service_types() -> list[str]:
    return list(ServiceType.values)


class PartnershipQuerySet(models.QuerySet["Partnership"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class CancelationDefault(models.TextChoices):
    """What counts as the answer of a supplier that did not answer a cancellation in time."""

    WAIT = "wait", "wait for the supplier"
    APPROVE = "approve", "approved"
    REFUSE = "refuse", "refused"


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
    refuse_short_orders = models.BooleanField(
        default=False, help_text="Refuse an order that stock cannot cover, rather than pass it on short."
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


def validate_network(value: str) -> None:
    """Refuse what is no network in CIDR notation."""
    try:
        ipaddress.ip_network(value)
    except ValueError as error:
        raise ValidationError(f"{value} is not a network such as 192.0.2.0/24") from error


def hash_secret(secret: str) -> str:
    """The stored form of a random secret. Its 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Credential(models.Model):
    """A bearer secret: shown once, kept as a digest, found by its public prefix."""

    PREFIX_MARK: ClassVar[str]

    prefix = models.CharField(max_length=20, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=30, choices=Scope.choices),
        null=True,
        blank=True,
        help_text="Empty: all that the party's role allows.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True

    def make_secret(self) -> str:
        """Give this unsaved credential a fresh secret and return it: the only time it is seen."""
        self.prefix = f"{self.PREFIX_MARK}_{secrets.token_hex(6)}"
        secret = f"{self.prefix}_{secrets.token_urlsafe(32)}"
        self.digest = hash_secret(secret)
        return secret

    def matches(self, secret: str) -> bool:
        return hmac.compare_digest(self.digest, hash_secret(secret))

    @staticmethod
    def prefix_of(secret: str) -> str:
        """The public part of a secret: its first two words."""
        return "_".join(secret.split("_")[:2])


class ApiKey(Credential):
    """What a party's system comes in with. Also its OAuth client: the prefix is the client_id."""

    PREFIX_MARK = "fxk"
    GRACE = timedelta(hours=24)

    name = models.CharField(max_length=100)
    supplier = models.ForeignKey(
        Supplier, on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys"
    )
    retailer = models.ForeignKey(
        Retailer, on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys"
    )
    allowed_networks = ArrayField(
        models.CharField(max_length=50, validators=[validate_network]),
        default=list,
        blank=True,
        help_text="CIDR networks, parted by commas. Empty: from anywhere.",
    )
    rate_limit = models.CharField(
        max_length=30,
        blank=True,
        validators=[validate_rate],
        help_text="Such as 600/min, or off. Empty: the service's own limit.",
    )
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-id"]
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(
                condition=Q(supplier__isnull=False, retailer__isnull=True)
                | Q(supplier__isnull=True, retailer__isnull=False),
                name="api_key_of_one_party",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @classmethod
    def issue(cls, party: Supplier | Retailer, name: str, **fields: object) -> tuple[Self, str]:
        """Make a key for a party; return it with its secret."""
        key = cls(name=name, **{party.role.value: party}, **fields)
        secret = key.make_secret()
        key.save()
        return key, secret

    @property
    def party(self) -> Supplier | Retailer:
        party = self.supplier or self.retailer
        assert party is not None  # the database holds this
        return party

    @property
    def role(self) -> Role:
        return Role.SUPPLIER if self.supplier_id else Role.RETAILER

    @property
    def granted(self) -> frozenset[Scope]:
        """The scopes that this key has in effect."""
        allowed = scopes_of(self.role)
        return allowed if not self.scopes else allowed & frozenset(Scope(each) for each in self.scopes)

    def usable(self, *, at: datetime) -> bool:
        expired = self.expires_at is not None and self.expires_at <= at
        return self.revoked_at is None and not expired

    def admits(self, address: str) -> bool:
        """Whether this key may be used from that network address."""
        if not self.allowed_networks:
            return True
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(ip in ipaddress.ip_network(network) for network in self.allowed_networks)

    def revoke(self) -> None:
        """End this key, and every token it was exchanged for, at once."""
        ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
        self.refresh_from_db(fields=["revoked_at"])

    def rotate(self) -> tuple[ApiKey, str]:
        """Issue this key's successor; this one stays valid for the grace period."""
        fresh, secret = ApiKey.issue(
            self.party,
            self.name,
            scopes=self.scopes,
            allowed_networks=self.allowed_networks,
            rate_limit=self.rate_limit,
        )
        end = timezone.now() + self.GRACE
        ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=end), pk=self.pk).update(expires_at=end)
        return fresh, secret

    def touch(self) -> None:
        """Note the use, at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at >= timedelta(minutes=1):
            stale = Q(last_used_at=None) | Q(last_used_at__lte=now - timedelta(minutes=1))
            ApiKey.objects.filter(stale, pk=self.pk).update(last_used_at=now)


class AccessToken(Credential):
    """What an API key was exchanged for at /oauth/token. It ends with its key."""

    PREFIX_MARK = "fxt"

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="tokens")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @classmethod
    def issue(cls, key: ApiKey, scopes: frozenset[Scope], lifetime: timedelta) -> tuple[Self, str]:
        """Exchange a key for a token, which never outlives it; return it with its secret."""
        end = timezone.now() + lifetime
        if key.expires_at is not None:
            end = min(end, key.expires_at)
        token = cls(key=key, scopes=sorted(scope.value for scope in scopes), expires_at=end)
        secret = token.make_secret()
        token.save()
        return token, secret

    @property
    def seconds_left(self) -> int:
        """Whole seconds until it ends."""
        assert self.expires_at is not None  # every token is given an end
        return max(0, math.floor((self.expires_at - timezone.now()).total_seconds()))


class IdempotencyKey(models.Model):
    """The first answer to a request that carried an Idempotency-Key (contract 2 and 12)."""

    party = models.CharField(max_length=30, help_text="Such as supplier:1")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64, help_text="Of method, path and body.")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(F("party"), F("key"), name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.party} {self.key}"
