"""Each list of a party shows only rows of this party, although another party has rows too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Retailer, Supplier
from events.models import Event
from tests.client import ApiClient
from tests.contract.test_tenancy import TENANCY, R, S
from tests.factories import ImportJobFactory, SavedMappingFactory, UploadFactory, WebhookFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

LISTS = [
    route
    for route, methods in TENANCY.items()
    if "get" in methods and "_id>" not in route.removeprefix(S).removeprefix(R)
]
WITHOUT_ROWS = {
    *(f"{S}/templates/{name}.csv" for name in ("products", "inventory", "tracking")),
    *(f"{S}/{name}" for name in ("importPolicy", "autoImports/products", "autoImports/inventory")),
    *(f"{S}/scorecard", f"{S}/packing-slips", f"{R}/order-filters", f"{R}/variants"),
}
"""Lists whose answers never contain the party's name: settings, sums, and the catalog for all retailers."""


@pytest.fixture
def everywhere(acme, rival, shop, boutique, a_variant, client_for) -> None:
    """Create rows of each party in each list, with the name of the party in their texts."""
    for supplier, retailer in ((acme, shop), (rival, boutique)):
        sku = f"{supplier.name}-1"
        variant = a_variant(supplier, sku, stock=9, model=f"{supplier.name}-model")
        seller, buyer = client_for(supplier), client_for(retailer)
        seller.post("inventory", {"inventories": [{"id": sku, "amount": 7}]})
        order = an_order({"variant_id": variant.pk, "quantity": 1}, retailer_order_id=f"{retailer.name}-1")
        assert buyer.post("orders", order).status_code == 201
        SavedMappingFactory.create(supplier=supplier, name=f"{supplier.name} mapping")
        ImportJobFactory.create(supplier=supplier, source=f"products/{supplier.name}.csv")
        UploadFactory.create(supplier=supplier, path=f"products/{supplier.name}.csv")
        named = {"title": "Lamp", "retail_price": 9, "wholesale_price": 5}
        assert seller.post("variants", {"sku": f"{supplier.name}-2", **named}).status_code == 201
        hooks = {"areas": ["catalog"], "url": f"https://{supplier.name}.example/hooks"}
        WebhookFactory.create(retailer=None, supplier=supplier, **hooks)
        WebhookFactory.create(retailer=retailer, url=f"https://{retailer.name}.example/hooks")
    Event.publish()


def read(party: Supplier | Retailer, route: str, client_for: Callable[..., ApiClient]) -> str:
    """Return the text of a list that this party reads, in lower case."""
    path = f"/{route}".replace("<id:supplier_id>", str(party.pk)).replace("<id:retailer_id>", str(party.pk))
    answer: Any = client_for(party).get(path)
    content: bytes = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode().lower()


@pytest.mark.parametrize("route", LISTS)
def test_a_list_has_the_rows_of_its_party_and_of_no_other(
    route, everywhere, acme, rival, shop, boutique, client_for
):
    own, other = (acme, rival) if route.startswith(S) else (shop, boutique)
    text, others_text = read(own, route, client_for), read(other, route, client_for)

    assert other.name.lower() not in text
    # Each party's own list contains the party's name, so the assertion above would find foreign rows.
    assert (other.name.lower() in others_text) is (route not in WITHOUT_ROWS)
    assert (own.name.lower() in text) is (route not in WITHOUT_ROWS)
