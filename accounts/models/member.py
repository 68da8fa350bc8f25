"""Members, who work for a party in the portal, and invitations to become a member (contract 20)."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Self

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.member_roles import RIGHTS, MemberRole, Right
from accounts.models.credential import hash_secret
from accounts.models.party import OfOneParty, Retailer, Supplier, of_one_party


class MemberQuerySet(models.QuerySet["Member"]):
    def active(self) -> Self:
        return self.filter(removed_at=None, user__is_active=True)

    def of_party(self, party: Supplier | Retailer) -> Self:
        return self.filter(**{party.role.value: party})


class Member(OfOneParty):
    """A user's membership in one party. The row of a removed member stays, because histories name it."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    supplier = models.ForeignKey(
        Supplier, on_delete=models.PROTECT, null=True, blank=True, related_name="members"
    )
    retailer = models.ForeignKey(
        Retailer, on_delete=models.PROTECT, null=True, blank=True, related_name="members"
    )
    member_role = models.CharField("role", max_length=20, choices=MemberRole.choices)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = MemberQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            of_one_party("member_of_one_party"),
            *(
                models.UniqueConstraint(
                    fields=["user", party], condition=Q(removed_at=None), name=f"member_once_of_{party}"
                )
                for party in ("supplier", "retailer")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.party})"

    @property
    def name(self) -> str:
        return self.user.first_name or self.user.email

    @property
    def role_label(self) -> str:
        return MemberRole(self.member_role).label

    @property
    def actor_name(self) -> str:
        """Return the name of this member in events: `member:7`."""
        return f"member:{self.pk}"

    def may(self, right: Right | None) -> bool:
        """Return whether the role has a right. With None (the member's own settings), return True."""
        return right is None or right in RIGHTS[MemberRole(self.member_role)]

    def is_last_owner(self) -> bool:
        """Return whether the party would have no owner without this member."""
        owners = Member.objects.active().of_party(self.party).filter(member_role=MemberRole.OWNER)
        return self.member_role == MemberRole.OWNER and not owners.exclude(pk=self.pk).exists()


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self, *, at: datetime) -> Self:
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=at)

    def with_token(self, token: str) -> Self:
        return self.filter(digest=hash_secret(token))

    def of_party(self, party: Supplier | Retailer) -> Self:
        return self.filter(**{party.role.value: party})


class Invitation(OfOneParty):
    """An offer to an e-mail address to become a member. The token works once; only its digest is stored."""

    LIFETIME = timedelta(days=7)

    supplier = models.ForeignKey(
        Supplier, on_delete=models.PROTECT, null=True, blank=True, related_name="invitations"
    )
    retailer = models.ForeignKey(
        Retailer, on_delete=models.PROTECT, null=True, blank=True, related_name="invitations"
    )
    email = models.EmailField(max_length=150)  # the address becomes the username, which has this limit
    member_role = models.CharField("role", max_length=20, choices=MemberRole.choices)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [of_one_party("invitation_of_one_party")]

    def __str__(self) -> str:
        return f"{self.email} ({self.party})"

    @classmethod
    def issue(cls, party: Supplier | Retailer, **fields: object) -> tuple[Self, str]:
        """Create an invitation and return it with its token."""
        token = secrets.token_urlsafe(32)
        invitation = cls(
            digest=hash_secret(token),
            expires_at=timezone.now() + cls.LIFETIME,
            **{party.role.value: party},
            **fields,
        )
        invitation.save(force_insert=True)
        return invitation, token

    @property
    def role_label(self) -> str:
        return MemberRole(self.member_role).label


def member_names(actors: set[str], party: Supplier | Retailer | None = None) -> dict[str, str]:
    """Return the names of members by their actor names, for one party or for all parties.

    If no actor is a member, this function runs no query.
    """
    ids = [int(name.partition(":")[2]) for name in actors if name.startswith("member:")]
    if not ids:
        return {}
    members = Member.objects.filter(pk__in=ids).select_related("user", "supplier", "retailer")
    if party is not None:
        members = members.of_party(party)
    return {member.actor_name: str(member) for member in members}
