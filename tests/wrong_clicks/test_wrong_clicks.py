"""Random clicks and answers in the admin and the portal break no page and no counter."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from accounts.member_roles import MemberRole
from accounts.models import Retailer, Supplier
from backoffice.groups import OPERATORS
from orders.reconciling.reconciling import differences
from tests.factories import MemberFactory, StaffFactory
from tests.wrong_clicks.clicker import Clicker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fuzz]
CLICKS, SEED = int(os.environ.get("WRONG_CLICKS", "250")), int(os.environ.get("WRONG_CLICKS_SEED", "1"))


def operator() -> User:
    return StaffFactory.create(username="olga", group=OPERATORS)


def member_of_supplier() -> User:
    supplier = Supplier.objects.get(name="Little Fern Toys")
    return MemberFactory.create(supplier=supplier, member_role=MemberRole.OWNER).user


def member_of_retailer() -> User:
    retailer = Retailer.objects.get(name="Corner & Co")
    return MemberFactory.create(retailer=retailer, member_role=MemberRole.OWNER).user


@pytest.mark.parametrize(
    ("person", "home"),
    [(operator, "/admin/"), (member_of_supplier, "/portal/"), (member_of_retailer, "/portal/")],
)
def test_wrong_clicks_break_no_page_and_no_counter(person: Callable[[], User], home: str):
    call_command("demo_data", "--with-market", verbosity=0)
    client, user = Client(raise_request_exception=False), person()

    def sign_in() -> None:
        User.objects.filter(pk=user.pk).update(is_active=True)
        client.force_login(user)

    sign_in()
    clicker = Clicker(client, home, Random(SEED), sign_in)
    broken = [clicker.way[-2:] for _ in range(CLICKS) if clicker.click().status_code >= 500]
    assert broken == []
    assert len({step.partition("?")[0] for step in clicker.way}) > CLICKS / 10
    assert list(differences()) == []
