"""A role is not changed after the member was removed, even if both changes start at the same time."""

from __future__ import annotations

import pytest

from accounts.actors import Actor
from accounts.member_roles import MemberRole
from accounts.models import Member
from accounts.operating.operator_actions import NothingChanged
from api.errors import InvalidTransition
from events.models import Event
from portal.team import services


def test_the_role_of_a_member_who_was_removed_meanwhile_does_not_change(acme, owner, member_of):
    by = Actor.of_member(owner)
    bo = member_of(acme, MemberRole.ORDERS, user__first_name="Bo")
    services.remove(Member.objects.get(pk=bo.pk), by=by)

    with pytest.raises(NothingChanged, match="Bo is no longer a member."):
        services.change_role(bo, MemberRole.OWNER, by=by)

    bo.refresh_from_db()
    assert bo.member_role == MemberRole.ORDERS
    assert not Event.objects.filter(type="member.role_changed").exists()


def test_two_owners_who_leave_at_the_same_time_do_not_leave_a_party_without_an_owner(acme, owner, member_of):
    second = member_of(acme)
    services.remove(Member.objects.get(pk=second.pk), by=Actor.of_member(owner))

    with pytest.raises(InvalidTransition):
        services.change_role(owner, MemberRole.VIEWER, by=Actor.of_member(second))
