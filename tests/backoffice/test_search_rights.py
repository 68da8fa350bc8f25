"""The search shows only records of models that the operator may view."""

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from tests.factories import IssuedKeyFactory, RetailerFactory, StaffFactory, SupplierFactory


@pytest.mark.parametrize(
    ("right", "expected"),
    [("view_supplier", "Suppliers"), ("view_retailer", "Retailers"), ("view_apikey", "API keys")],
)
def test_a_search_shows_parties_and_keys_only_with_the_right_to_view_them(db, right, expected):
    supplier = SupplierFactory.create(name="Same name")
    RetailerFactory.create(name="Same name")
    key, _ = IssuedKeyFactory.create(party=supplier)
    nina = StaffFactory.create(username="nina")
    nina.user_permissions.add(Permission.objects.get(codename=right, content_type__app_label="accounts"))
    client = Client()
    client.force_login(nina)

    pages = [client.get(f"/admin/search/?all=1&q={term}") for term in ("same", key.prefix)]

    assert {group.title for page in pages for group in page.context["groups"]} == {expected}
