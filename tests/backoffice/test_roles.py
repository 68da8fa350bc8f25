"""Roles with only some rights: pages show only the actions that a user of the role may do."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from backoffice.groups import DESKS, OPERATORS, SUPPORT
from imports.models import Status
from inventory.models import StockLevel
from tests.factories import ImportJobFactory, RejectFactory, StaffFactory

pytestmark = pytest.mark.django_db

LINKS = re.compile(r'(?:href|formaction)="(/admin/[^"#?]*)')
NOT_FOLLOWED = re.compile(r"/(logout|jsi18n|password_change)/")


@pytest.fixture
def pages(acme, shop, a_variant, pushed, client_for) -> list[str]:
    """Create work that waits and partners, and return the paths of their pages."""
    variant = a_variant(acme, "A-1", stock=5)
    order = pushed(shop, {"sku": "A-1", "quantity": 3})
    work = order.fulfillments.get()
    refused = pushed(shop, {"sku": "A-1", "quantity": 2})
    client_for(acme).put(f"fulfillments/{refused.fulfillments.get().pk}/setStatus/out_of_stock")
    held = ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    failed = ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED_WITH_ERRORS, rejected=1)
    RejectFactory.create(job=failed)
    level = StockLevel.objects.get(variant=variant)
    return [
        "/admin/",
        "/admin/desk/",
        f"/admin/orders/order/{order.pk}/change/",
        f"/admin/fulfillments/fulfillment/{work.pk}/change/",
        f"/admin/imports/importjob/{held.pk}/change/",
        f"/admin/imports/importjob/{failed.pk}/change/",
        "/admin/imports/importjob/",
        f"/admin/accounts/supplier/{acme.pk}/overview/",
        f"/admin/accounts/retailer/{shop.pk}/overview/",
        f"/admin/catalog/variant/{variant.pk}/change/",
        f"/admin/inventory/stocklevel/{level.pk}/change/",
    ]


@pytest.mark.parametrize("role", [OPERATORS, SUPPORT, *DESKS])
def test_every_link_that_a_role_is_shown_opens(role, pages):
    client = Client()
    client.force_login(StaffFactory.create(username="kim", group=role))
    found: dict[str, str] = {}
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        for link in LINKS.findall(answer.text):
            if not NOT_FOLLOWED.search(link):
                found.setdefault(re.sub(r"\d+", "1", link), link)

    refused = [link for link in found.values() if client.get(link).status_code == 403]

    assert refused == []
    assert len(found) > 30


def test_a_role_is_offered_only_its_own_actions(pages, acme):
    def offered(role: str) -> set[str]:
        client = Client()
        client.force_login(StaffFactory.create(username=role.split()[0].lower(), group=role))
        return {
            link.split("/")[2] for link in LINKS.findall(client.get("/admin/desk/").text) if "/do/" in link
        }

    assert offered("Order desk") == {"orders"}
    assert offered("Catalogue desk") == {"imports", "inventory"}
    assert offered(OPERATORS) == {"imports", "inventory", "orders"}
    assert offered(SUPPORT) == set()
