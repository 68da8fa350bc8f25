"""Access to the portal: each page of the URL configuration, with each role, for own and foreign records.

A new page is covered without a change here, as long as `everything` makes a record for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from accounts.member_roles import MemberRole, roles_with
from accounts.models import Member
from fulfillments.models import Fulfillment
from portal.acting import PortalActionPage
from portal.pages import PortalPage, PortalRecordPage
from portal.urls import urlpatterns
from portal.visitors import Visitor
from tests.factories import (
    AutoImportFactory,
    ContactFactory,
    ContactMessageFactory,
    ImportDraftFactory,
    ImportJobFactory,
    InvitationFactory,
    IssuedKeyFactory,
    OperatorActionFactory,
    PartnershipFactory,
    ReturnFactory,
    SftpLoginFactory,
    ShipmentFactory,
    StaffFactory,
    WebhookFactory,
)
from tests.portal.conftest import browser_of

MISSING = 10**15
PAGES: list[tuple[str, type[PortalPage], bool]] = [
    (str(pattern.name), pattern.callback.view_class, "<id:pk>" in str(pattern.pattern))  # type: ignore[attr-defined]
    for pattern in urlpatterns
    if issubclass(getattr(pattern.callback, "view_class", object), PortalPage)
]


@pytest.fixture
def everything(acme, rival, shop, boutique, member_of, a_variant, pushed):
    """Create two suppliers and two retailers, each with a record of each kind that pages show."""
    members = {party: member_of(party) for party in (acme, rival, shop, boutique)}
    for party in members:
        InvitationFactory.create(party=party)
        IssuedKeyFactory.create(party=party)
        WebhookFactory.create(**{"retailer": None, party.role.value: party})
        contact = ContactFactory.create(**{party.role.value: party})
        ContactMessageFactory.create(contact=contact)
    for supplier in (acme, rival):
        OperatorActionFactory.create(model="fulfillments.fulfillment", actor=members[supplier].actor_name)
        ImportJobFactory.create(supplier=supplier)
        ImportDraftFactory.create(supplier=supplier)
        AutoImportFactory.create(supplier=supplier)
        SftpLoginFactory.create(supplier=supplier)
        a_variant(supplier, f"LAMP-{supplier.name}", stock=5)
        pushed(shop, {"sku": f"LAMP-{supplier.name}", "quantity": 2})
    pushed(boutique, {"sku": "LAMP-Rival", "quantity": 1})
    only_of_boutique = PartnershipFactory.create(retailer=boutique).supplier
    a_variant(only_of_boutique, "VASE")
    for fulfillment in Fulfillment.objects.all():
        ReturnFactory.create(fulfillment=fulfillment)
        ShipmentFactory.create(fulfillment=fulfillment)
    return members


def records_of(page: type[PortalPage], member: Member) -> QuerySet[Any]:
    view = page()
    view.visitor = Visitor(member)
    assert isinstance(view, PortalRecordPage)
    return view.of_party()


def record_id(page: type[PortalPage], member: Member, not_of: Member | None = None) -> int:
    """Return the id of a record that the page shows to a member, but not to the member `not_of`."""
    hidden = [] if not_of is None else [record.pk for record in records_of(page, not_of)]
    record = records_of(page, member).exclude(pk__in=hidden).first()
    assert record is not None, f"The fixture `everything` makes no record for {page.__name__}."
    return int(record.pk)


def paths(name: str, page: type[PortalPage], *ids: int) -> Iterator[str]:
    actions = [each.name for each in page.actions] if issubclass(page, PortalActionPage) else [None]
    for action in actions:
        yield reverse(f"portal:{name}", args=[*ids, *([action] if action else [])])


@pytest.mark.parametrize("role", MemberRole)
@pytest.mark.parametrize("side", ["supplier", "retailer"])
def test_a_member_reaches_only_the_records_of_the_party_and_the_pages_of_the_role(
    everything, acme, rival, shop, boutique, member_of, role, side
):
    own, other = (acme, rival) if side == "supplier" else (shop, boutique)
    member = member_of(own, role)
    client = browser_of(member)
    not_found = client.get("/portal/no-such-page/").content
    assert b"does not exist" in not_found

    for name, page, has_record in PAGES:
        if own.role not in page.sides:
            for path in paths(name, page, *([MISSING] if has_record else [])):
                assert client.get(path).content == not_found, path
            continue
        ids = [record_id(page, member)] if has_record else []
        for path in paths(name, page, *ids):
            _check_role(client, member, page, path)
        for foreign in (record_id(page, everything[other], member), MISSING) if has_record else ():
            for path in paths(name, page, foreign):
                for answer in (client.get(path), client.post(path)):
                    assert (answer.status_code, answer.content) == (404, not_found), path


def _check_role(client, member, page, path):
    shown, lacks_right = client.get(path), not member.may(page.right)
    assert shown.status_code == (403 if page.is_secret and lacks_right else 200), path
    if lacks_right:
        refused = client.post(path)
        assert refused.status_code == 403, path
        assert f"role {roles_with(page.right)[0].label}" in refused.content.decode()


def test_strangers_and_operators_see_no_page(everything, client):
    operator = Client()
    operator.force_login(StaffFactory.create())
    for name, page, has_record in PAGES:
        for path in paths(name, page, *([1] if has_record else [])):
            assert client.get(path)["Location"].startswith("/portal/login/"), path
            assert operator.get(path)["Location"].startswith("/portal/choose/?next="), path


def test_a_removed_member_loses_access_at_once(ana, owner):
    assert ana.get("/portal/team/").status_code == 200
    Member.objects.filter(pk=owner.pk).update(removed_at="2026-01-01T00:00Z")

    assert ana.get("/portal/team/").status_code == 302
