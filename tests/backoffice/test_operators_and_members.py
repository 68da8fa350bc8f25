"""No person is an operator and a member of a partner with the same account or e-mail address."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.factories import MemberFactory, StaffFactory


@pytest.fixture
def ana(acme) -> User:
    member = MemberFactory.create(supplier=acme, user__username="ana@acme.example")
    user: User = member.user
    return user


def save(admin_client, user: User, **changes: str):
    url = f"/admin/auth/user/{user.pk}/change/"
    form = admin_client.get(url).context["adminform"].form
    sent = {bound.html_name: bound.value() for bound in form if bound.value()}
    return admin_client.post(url, {**sent, **changes})


def test_a_member_gets_no_staff_rights(admin_client, ana):
    page = save(admin_client, ana, is_staff="on")

    assert page.context["adminform"].form.errors == {
        "is_staff": ["A member of Acme has this account or e-mail address. Remove the member first."]
    }
    ana.refresh_from_db()
    assert not ana.is_staff


def test_a_removed_member_may_become_an_operator(admin_client, ana):
    ana.memberships.update(removed_at=ana.date_joined)

    assert save(admin_client, ana, is_staff="on").status_code == 302
    ana.refresh_from_db()
    assert ana.is_staff


def test_an_operator_gets_no_address_of_a_member(admin_client, ana):
    olga = StaffFactory.create(username="olga")

    page = save(admin_client, olga, email="Ana@acme.example")
    assert "A member of Acme has this account or e-mail address" in page.text
    assert save(admin_client, olga, email="olga@exchange.example").status_code == 302


def test_a_member_keeps_a_form_without_staff_rights(admin_client, ana):
    assert save(admin_client, ana, first_name="Ana").status_code == 302
    ana.refresh_from_db()
    assert ana.first_name == "Ana"
