"""A program that uses openapi-generator's Python client for stock, an order, a shipment, and an error."""

from __future__ import annotations

import datetime
import json
import os
import time

import openapi_client as exchange

with open(os.environ["DEMO_JSON"]) as file:
    demo = json.load(file)
acme, shop = demo["suppliers"][0], demo["retailers"][0]
sku = f"OGP-{time.time_ns()}"


def client(key: str) -> exchange.ApiClient:
    return exchange.ApiClient(exchange.Configuration(host=demo["base_url"], access_token=key))


supplier, retailer = client(acme["api_key"]), client(shop["api_key"])
catalog, stock = exchange.SupplierCatalogApi(supplier), exchange.SupplierStockApi(supplier)
fulfillments, orders = exchange.SupplierFulfillmentsApi(supplier), exchange.RetailerOrdersApi(retailer)

# The supplier creates a variant and pushes its stock.
body = exchange.VariantBody(sku=sku, title="Lamp", retail_price=5.5, images=["https://e.example/1.jpg"])
created = catalog.create_variant(acme["id"], body)
read = catalog.get_supplier_variant(acme["id"], created.id)
assert (read.sku, read.images) == (sku, ["https://e.example/1.jpg"])
assert isinstance(read.created_at, datetime.datetime)
warehouse = stock.list_warehouses(acme["id"])[0].id
element = exchange.InventoryElementBody(id=sku, amount=9)
counts = exchange.PushBody(warehouse_id=warehouse, inventories=[element])
assert stock.push_inventory(acme["id"], counts).updated == 1

# The retailer pulls the catalog and pushes an order.
groups = exchange.RetailerCatalogApi(retailer).pull_variants(shop["id"], service_type="ecommerce", limit=5)
assert all(isinstance(each.variants[0], int) for each in groups)
order = exchange.OrderBody(
    retailer_order_id=sku,
    order_lines=[exchange.LineBody(sku=sku, quantity=2)],
    shipping_address=exchange.AddressBody(first_name="Ada", address1="1 High St", country="GB"),
    ship_until=datetime.datetime.now(datetime.UTC).date(),
)
placed = orders.push_order(shop["id"], order)
assert placed.code == "order_created"

# The supplier captures, accepts and ships the order.
captured = fulfillments.list_fulfillments(
    acme["id"], retailer_state="ordered", fulfillment_state="new", limit=500
)
mine = next(each for each in captured if each.order_id == placed.order_id)
assert (mine.fulfillment_state, mine.lines[0].sku) == (exchange.FulfillmentState.NEW, sku)
assert fulfillments.accept_fulfillment(mine.id, acme["id"], exchange.TrackingBody()).success
tracked = exchange.ShipBody(tracking_number=f"T-{sku}")
assert fulfillments.ship_fulfillment(mine.id, acme["id"], tracked).code == "shipped"
assert [level.on_hand for level in stock.list_inventory(acme["id"], sku=sku)] == [7]

# The retailer reads the shipment, and gets an error that names the wrong field.
after = orders.get_order(placed.order_id, shop["id"])
assert after.processing_state == exchange.ProcessingState.COMPLETED
assert after.fulfillments[0].tracking_numbers == [f"T-{sku}"]
assert [each.id for each in orders.list_orders(shop["id"], retailer_order_id=sku).results] == [after.id]
try:
    orders.get_order(10**15, shop["id"])
except exchange.exceptions.NotFoundException as refused:
    assert (refused.data.code, bool(refused.data.request_id)) == ("not_found", True)
else:
    raise AssertionError("an order that does not exist was found")
try:
    orders.push_order(
        shop["id"], exchange.OrderBody(retailer_order_id=f"{sku}-0", order_lines=order.order_lines)
    )
except exchange.exceptions.BadRequestException as refused:
    assert {each.var_field for each in refused.data.errors} >= {"shipping_address.country"}
else:
    raise AssertionError("an order without an address was accepted")
print("shipped")
