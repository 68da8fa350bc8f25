"""The page about a suspension links each count of open work to exactly the counted rows."""

import pytest

from accounts.models import Partnership
from tests.factories import PartnershipFactory


@pytest.fixture
def two_retailers_of_acme(acme, shop, boutique, a_variant, pushed):
    """Create an order of Shop and an order of Boutique, both at Acme. Return Shop's partnership."""
    a_variant(acme, "LAN-1", stock=10)
    PartnershipFactory.create(supplier=acme, retailer=boutique)
    for retailer in (shop, boutique):
        pushed(retailer, {"sku": "LAN-1", "quantity": 1})
    return Partnership.objects.get(supplier=acme, retailer=shop)


def shown_rows(client, subject):
    """Return the count on the page, and the rows of the list behind it."""
    page = client.get(f"/admin/accounts/{subject._meta.model_name}/{subject.pk}/suspend/")
    [work] = page.context["impact"].open_work
    listing = client.get(work.url)
    assert listing.status_code == 200
    return work.count, list(listing.context["cl"].result_list)


def test_the_link_for_a_partnership_lists_only_the_work_of_its_retailer(
    operator, two_retailers_of_acme, shop
):
    count, rows = shown_rows(operator, two_retailers_of_acme)
    assert (count, [row.order.retailer for row in rows]) == ("1", [shop])


def test_the_link_for_a_supplier_lists_the_work_of_all_its_retailers(operator, two_retailers_of_acme, acme):
    count, rows = shown_rows(operator, acme)
    assert (count, len(rows)) == ("2", 2)
