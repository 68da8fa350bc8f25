"""A program that uses the Python client of `make packages` for stock, an order, a shipment, and a webhook."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from exchange_client import ApiError, InvalidSignature, Retailer, Supplier, verify
from exchange_client.models import OrderBody

with open(os.environ["DEMO_JSON"]) as file:
    demo = json.load(file)
acme = Supplier(demo["base_url"], demo["suppliers"][0]["api_key"], demo["suppliers"][0]["id"])
shop = Retailer(demo["base_url"], demo["retailers"][0]["api_key"], demo["retailers"][0]["id"])
sku = f"PKG-{time.time_ns()}"


def webhooks_are_received() -> None:
    """Check that `verify` accepts a delivery with the old and with the new secret.

    A delivery with a changed body is refused.
    """
    came: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            came.put((dict(self.headers.items()), body))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Other scenarios push orders at the same time, so use an event type that they do not cause.
    address = f"http://127.0.0.1:{server.server_address[1]}/hooks"
    webhook = shop.create_webhook({"url": address, "types": ["order.held"]})
    old, new = webhook["secret"], shop.rotate_webhook(webhook["id"])["secret"]
    shop.test_webhook(webhook["id"])
    headers, body = came.get(timeout=30)
    for secrets in (old, new, ["whsec_AAAA", new]):
        assert verify(secrets, headers, body)["type"] == "webhook.tested"
    try:
        verify([old, new], headers, body + b" ")
    except InvalidSignature:
        pass
    else:
        raise AssertionError("a changed delivery was accepted")
    shop.delete_webhook(webhook["id"])
    server.shutdown()


# The supplier creates a variant and pushes its stock.
created = acme.create_variant({"sku": sku, "title": "Lamp", "retail_price": Decimal("5.50")})
assert acme.get_variant(created["id"])["retail_price"] == Decimal("5.50")
assert [each["id"] for each in acme.iter_variants(sku=sku)] == [created["id"]]
warehouse = acme.list_warehouses()[0]["id"]
counted = acme.push_inventory({"warehouse_id": warehouse, "inventories": [{"id": sku, "amount": 9}]})
assert counted["updated"] == 1

# The retailer pulls the catalog and pushes an order. A repetition returns the same order.
assert any(created["id"] in each["variants"] for each in shop.iter_variants(service_type="ecommerce"))
order: OrderBody = {
    "retailer_order_id": sku,
    "order_lines": [{"sku": sku, "quantity": 2}],
    "shipping_address": {"first_name": "Ada", "address1": "1 High St", "country": "GB"},
}
before = next(shop.iter_orders(ordering="-updated_at", limit=1), None)
placed = shop.push_order(order, idempotency_key=sku)
assert (placed["code"], shop.push_order(order, idempotency_key=sku)) == ("order_created", placed)

# The supplier captures, accepts and ships the order.
new_work = acme.iter_fulfillments(retailer_state="ordered", fulfillment_state="new")
work = next(each for each in new_work if each["order_id"] == placed["order_id"])
assert acme.accept_fulfillment(work["id"])["success"]
assert acme.ship_fulfillment(work["id"], {"tracking_number": f"T-{sku}"})["code"] == "shipped"
assert [level["on_hand"] for level in acme.iter_inventory(sku=sku)] == [7]

# The retailer finds the shipment by polling and in the event feed, and gets an error that names the field.
changed = shop.changed_orders(before["updated_at"] if before else None)
after = next(each for each in changed if each["id"] == placed["order_id"])
assert (after["processing_state"], after["fulfillments"][0]["tracking_numbers"]) == (
    "completed",
    [f"T-{sku}"],
)
events = shop.follow_events()
while (event := next(events)).get("order_id") != placed["order_id"] or event["type"] != "fulfillment.shipped":
    pass
try:
    shop.push_order({"retailer_order_id": f"{sku}-0", "order_lines": order["order_lines"]})
except ApiError as refused:
    assert (refused.status, bool(refused.request_id)) == (400, True)
    assert "shipping_address.country" in {each.field for each in refused.errors}
else:
    raise AssertionError("an order without an address was accepted")
if "127.0.0.0/8" in os.environ.get("WEBHOOK_NETWORKS", ""):
    webhooks_are_received()
print("shipped")
