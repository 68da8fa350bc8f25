"""Changes of a party's team. Each change records an event that only operators and owners can read."""

from __future__ import annotations

import logging
from functools import partial

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from accounts.actors import Actor
from accounts.member_roles import MemberRole
from accounts.models import Invitation, Member, Retailer, Supplier
from accounts.operating.operator_actions import NothingChanged
from api.errors import InvalidTransition
from events.models import ACCOUNTS
from events.recording import record

logger = logging.getLogger(__name__)

LAST_OWNER = "This member is the only owner. Make another member an owner first."
OF_AN_OPERATOR = "This e-mail address belongs to an operator of the service. Use another address."
ACCOUNT_EXISTS = "This e-mail address has an account now. Open the link again, and enter its password."


def invite(party: Supplier | Retailer, *, email: str, member_role: str, by: Actor) -> tuple[Invitation, str]:
    """Invite an e-mail address, and mail the link after the commit. Return the invitation and its token.

    An earlier open invitation of the same address is replaced. Call this function in a transaction.

    Raises InvalidTransition for an operator's address, and NothingChanged for the address of a member.
    """
    _lock(party)
    email = email.lower()
    _refuse_operators(email)
    if Member.objects.active().of_party(party).filter(user__username=email).exists():
        raise NothingChanged(f"{email} is already a member.")
    now = timezone.now()
    earlier = Invitation.objects.of_party(party).usable(at=now).filter(email=email)
    earlier.update(revoked_at=now)
    invitation, token = Invitation.issue(party, email=email, member_role=member_role, invited_by=by.name)
    _record("member.invited", party, by=by, email=email, role=member_role)
    transaction.on_commit(partial(_send_link, invitation, token))
    return invitation, token


def invitation_link(token: str) -> str:
    return settings.BASE_URL + reverse("portal:invitation", args=[token])


def revoke(invitation: Invitation, *, by: Actor) -> None:
    """End an open invitation. Raises NothingChanged if the invitation is not open."""
    now = timezone.now()
    if not Invitation.objects.usable(at=now).filter(pk=invitation.pk).update(revoked_at=now):
        raise NothingChanged("This invitation is no longer open.")
    _record("member.invitation_revoked", invitation.party, by=by, email=invitation.email)


def accept(invitation: Invitation, *, name: str, password: str) -> Member | None:
    """Make the invited person a member. Return None if the invitation is no longer usable.

    A person without an account gets a new account with this name and password. Without a name, the person
    has signed in to an account. Raises InvalidTransition if an account was created in the meantime.
    """
    with transaction.atomic():
        _lock(invitation.party)
        now = timezone.now()
        if not Invitation.objects.usable(at=now).filter(pk=invitation.pk).update(accepted_at=now):
            return None
        user, is_new = User.objects.get_or_create(
            username=invitation.email, defaults={"email": invitation.email, "first_name": name[:150]}
        )
        if name and not is_new:
            raise InvalidTransition(ACCOUNT_EXISTS)  # the password of this account was not checked
        if is_new:
            user.set_password(password)
            user.save(update_fields=["password"])
        return add(invitation.party, user, invitation.member_role)


def add(party: Supplier | Retailer, user: User, member_role: str) -> Member:
    """Add a user to a party, or return the existing membership. Raises InvalidTransition for an operator."""
    _refuse_operators(user.username)
    sides = {party.role.value: party}
    member, is_new = Member.objects.get_or_create(
        user=user, removed_at=None, **sides, defaults={"member_role": member_role}
    )
    if is_new:
        _record("member.joined", party, by=Actor.of_member(member), **_about(member))
    return member


def change_role(member: Member, member_role: str, *, by: Actor) -> None:
    """Give a member another role.

    Raises NothingChanged if the member has this role already or was removed, and InvalidTransition for the
    only owner.
    """
    _lock_member(member)
    before = member.member_role
    if before == member_role:
        raise NothingChanged(f"{member.name} already has this role.")
    if member_role != MemberRole.OWNER and member.is_last_owner():
        raise InvalidTransition(LAST_OWNER)
    member.member_role = member_role
    member.save(update_fields=["member_role"])
    _record("member.role_changed", member.party, by=by, **_about(member), before=before)


def remove(member: Member, *, by: Actor) -> None:
    """End a member's access at once.

    Raises NothingChanged if the access has ended already, and InvalidTransition for the only owner.
    """
    _lock_member(member)
    if member.is_last_owner():
        raise InvalidTransition(LAST_OWNER)
    member.removed_at = timezone.now()
    member.save(update_fields=["removed_at"])
    _record("member.removed", member.party, by=by, **_about(member))


def require_second_factor(party: Supplier | Retailer, *, required: bool, by: Actor) -> None:
    """Set whether all members need a second factor. Raises NothingChanged if nothing changes."""
    changed = type(party).objects.filter(pk=party.pk).exclude(members_need_second_factor=required)
    if not changed.update(members_need_second_factor=required):
        raise NothingChanged("The rule is already set like this.")
    party.members_need_second_factor = required
    _record("member.second_factor_rule_changed", party, by=by, required=required)


def record_visit(member: Member, *, by: Actor) -> None:
    """Record that an operator sees the portal as this member."""
    _record("member.seen_as", member.party, by=by, **_about(member))


def _refuse_operators(address: str) -> None:
    """Raise InvalidTransition if an operator has this user name or e-mail address."""
    same = Q(username__iexact=address) | Q(email__iexact=address)
    if User.objects.filter(same, is_staff=True).exists():
        raise InvalidTransition(OF_AN_OPERATOR)


def _about(member: Member) -> dict[str, object]:
    return {"member_id": member.pk, "name": member.name, "role": member.member_role}


def _record(type: str, party: Supplier | Retailer, *, by: Actor, **data: object) -> None:  # noqa: A002
    record(type, by=by, area=ACCOUNTS, data=data, **{party.role.value: party})


def _lock(party: Supplier | Retailer) -> None:
    """Serialize changes of a team: two owners could otherwise remove each other at the same time."""
    type(party).objects.select_for_update(no_key=True).get(pk=party.pk)


def _lock_member(member: Member) -> None:
    """Lock the team, and read the member again. Raises NothingChanged if the member was removed."""
    _lock(member.party)
    member.refresh_from_db(fields=["member_role", "removed_at"])
    if member.removed_at is not None:
        raise NothingChanged(f"{member.name} is no longer a member.")


def _send_link(invitation: Invitation, token: str) -> None:
    """Mail the link. A failed mail changes nothing: the page shows the link for copying."""
    if not settings.EMAIL_URL:
        return
    text = (
        f"{invitation.party} invites you to its portal on The Exchange, with the role "
        f"{invitation.role_label}.\n\nOpen this link within 7 days to accept:\n{invitation_link(token)}\n\n"
        "If you did not expect this mail, ignore it.\n"
    )
    try:
        send_mail(f"Invitation to {invitation.party}", text, None, [invitation.email])
    except Exception:  # mail backends raise many kinds of errors
        logger.exception("the mail of invitation %s was not sent", invitation.pk)
