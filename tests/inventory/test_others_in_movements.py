"""A supplier sees other actors of its stock movements only by their role."""

from __future__ import annotations

import pytest

from inventory.models import StockMovement
from tests.factories import MemberFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def seen(acme, client_for, a_variant):
    """Return a function that reads a movement of this actor as Acme.

    It returns the shown actor, and whether the id of the request is shown.
    """
    a_variant(acme, "LAMP", stock=5)

    def look(actor: str) -> tuple[str, bool]:
        StockMovement.objects.update(actor=actor, request_id="r-1")
        [movement] = client_for(acme).get("inventory/movements").json()
        return movement["actor"], "request_id" in movement["cause"]

    return look


def test_a_member_of_another_party_appears_only_by_its_role(acme, rival, shop, seen):
    own, theirs, buyer = (
        MemberFactory.create(**of) for of in ({"supplier": acme}, {"supplier": rival}, {"retailer": shop})
    )

    assert seen(own.actor_name) == (own.actor_name, True)
    assert seen(theirs.actor_name) == ("system", False)
    assert seen(buyer.actor_name) == ("retailer", False)
    assert seen("member:0") == ("system", False)


def test_an_operator_appears_only_by_its_role(seen):
    assert seen("user:olga") == ("operator", False)
