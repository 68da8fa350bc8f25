"""The whole history of an order, through the public interface."""

from orders.reconciling.reconciling import differences
from tests.orders.push_bodies import ADDRESS


def test_an_order_is_pushed_captured_accepted_and_shipped(acme, shop, client_for, a_variant):
    variant = a_variant(acme, "A-1", stock=5, wholesale_price="10.50")
    retailer, supplier = client_for(shop), client_for(acme)

    pushed = retailer.post(
        "orders",
        {
            "retailer_order_id": "R-1",
            "shipping_address": ADDRESS,
            "order_lines": [{"sku": "A-1", "quantity": 2, "billed_amount": 39.98}],
        },
    )
    assert pushed.status_code == 201, pushed.content
    order_id = pushed.json()["order_id"]

    captured = supplier.get(
        "fulfillments", {"filter": '{"retailer_state":"ordered","fulfillment_state":"new"}'}
    )
    assert captured.status_code == 200, captured.content
    [work] = captured.json()
    assert work["lines"][0]["sku"] == "A-1"
    path = f"fulfillments/{work['id']}/setStatus"
    assert supplier.put(f"{path}/accepted", {}).json()["code"] == "accepted"
    shipped = supplier.put(f"{path}/shipped", {"tracking_number": "T1"})
    assert shipped.json()["code"] == "shipped", shipped.content

    order = retailer.get(f"orders/{order_id}").json()
    assert order["processing_state"] == "completed"
    assert order["order_lines"][0]["quantity_shipped"] == 2
    assert retailer.get("order-filters").json() == {"completed": 1, "canceled": 0, "pending": 0}
    level = variant.stock.get()
    assert (level.on_hand, level.reserved) == (3, 0)
    assert list(differences()) == []
