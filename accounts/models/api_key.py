"""API keys, with the methods that issue, rotate and revoke them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.credential import Credential
from accounts.models.party import OfOneParty, Retailer, Supplier, of_one_party
from accounts.rates import validate_rate
from accounts.scopes import Scope, scopes_of
from api.client_networks import parsed, parsed_network


def validate_network(value: str) -> None:
    """Raise ValidationError if the value is not a network in CIDR notation."""
    try:
        parsed_network(value)
    except ValueError as error:
        raise ValidationError(f"{value} is not a network such as 192.0.2.0/24") from error


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def of_party(self, party: Supplier | Retailer) -> Self:
        return self.filter(**{party.role.value: party})

    def usable(self, *, at: datetime) -> Self:
        return self.exclude(Q(revoked_at__isnull=False) | Q(expires_at__lte=at))


class ApiKey(OfOneParty, Credential):
    """The credential of a party's system. It is also an OAuth client: the prefix is the client_id."""

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
        help_text="CIDR networks, comma-separated. Empty: any address.",
    )
    rate_limit = models.CharField(
        max_length=30,
        blank=True,
        validators=[validate_rate],
        help_text="Such as 600/min, or off. Empty: the default limit of the service.",
    )
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "API key"
        constraints = [
            of_one_party("api_key_of_one_party", "A key belongs to a supplier or to a retailer. Choose one.")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @classmethod
    def issue(cls, party: Supplier | Retailer, name: str, **fields: object) -> tuple[Self, str]:
        """Create a key for a party and return it with its secret."""
        key = cls(name=name, **{party.role.value: party}, **fields)
        secret = key.make_secret()
        key.save()
        return key, secret

    @property
    def granted(self) -> frozenset[Scope]:
        """Return the key's scopes, limited to the scopes of its role."""
        allowed = scopes_of(self.role)
        return allowed if not self.scopes else allowed & frozenset(Scope(name) for name in self.scopes)

    def usable(self, *, at: datetime) -> bool:
        expired = self.expires_at is not None and self.expires_at <= at
        return self.revoked_at is None and not expired

    def admits(self, address: str) -> bool:
        """Return whether this key may be used from this network address."""
        if not self.allowed_networks:
            return True
        ip = parsed(address)
        return ip is not None and any(ip in parsed_network(network) for network in self.allowed_networks)

    def revoke(self) -> bool:
        """End this key and all its tokens at once; return False if it was already revoked."""
        ended = ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
        self.refresh_from_db(fields=["revoked_at"])
        return bool(ended)

    @property
    def end_of_successor(self) -> datetime | None:
        """Return the end of a key that replaces this key now: the end of this key, or None for no end.

        If this key ends within the grace period, return None. An earlier rotation may have set this end.
        """
        ends_later = self.expires_at is not None and self.expires_at > timezone.now() + self.GRACE
        return self.expires_at if ends_later else None

    def rotate(self) -> tuple[ApiKey, str]:
        """Issue a successor and return it with its secret. This key stays valid for the grace period."""
        end = timezone.now() + self.GRACE
        successor, secret = ApiKey.issue(
            self.party,
            self.name,
            scopes=self.scopes,
            allowed_networks=self.allowed_networks,
            rate_limit=self.rate_limit,
            expires_at=self.end_of_successor,
        )
        ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=end), pk=self.pk).update(expires_at=end)
        return successor, secret

    def touch(self) -> None:
        """Save the current time as the last use of this key, at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at >= timedelta(minutes=1):
            stale = Q(last_used_at=None) | Q(last_used_at__lte=now - timedelta(minutes=1))
            ApiKey.objects.filter(stale, pk=self.pk).update(last_used_at=now)
