"""A program that uses openapi-python-client's client for stock, an order, a shipment, and an error."""

from __future__ import annotations

import datetime
import json
import os
import time

from the_exchange_client import AuthenticatedClient, models
from the_exchange_client.api.retailer_catalog import pull_variants
from the_exchange_client.api.retailer_orders import get_order, list_orders, push_order
from the_exchange_client.api.supplier_catalog import create_variant, get_supplier_variant
from the_exchange_client.api.supplier_fulfillments import (
    accept_fulfillment,
    list_fulfillments,
    ship_fulfillment,
)
from the_exchange_client.api.supplier_stock import list_inventory, list_warehouses, push_inventory

with open(os.environ["DEMO_JSON"]) as file:
    demo = json.load(file)
acme, shop = demo["suppliers"][0], demo["retailers"][0]
sku = f"OPC-{time.time_ns()}"
supplier = AuthenticatedClient(base_url=demo["base_url"], token=acme["api_key"])
retailer = AuthenticatedClient(base_url=demo["base_url"], token=shop["api_key"])

# The supplier creates a variant and pushes its stock.
body = models.VariantBody(sku=sku, title="Lamp", retail_price=5.5, images=["https://e.example/1.jpg"])
created = create_variant.sync(acme["id"], client=supplier, body=body)
assert isinstance(created, models.Variant)
read = get_supplier_variant.sync(acme["id"], created.id, client=supplier)
assert isinstance(read, models.Variant)
assert (read.sku, read.images) == (sku, ["https://e.example/1.jpg"])
assert isinstance(read.created_at, datetime.datetime)
warehouses = list_warehouses.sync(acme["id"], client=supplier)
assert isinstance(warehouses, list)
warehouse = warehouses[0].id
counted = models.PushBody(warehouse_id=warehouse, inventories=[models.InventoryElementBody(id=sku, amount=9)])
pushed = push_inventory.sync(acme["id"], client=supplier, body=counted)
assert isinstance(pushed, models.Push)
assert pushed.updated == 1

# The retailer pulls the catalog and pushes an order.
groups = pull_variants.sync(
    shop["id"], client=retailer, limit=5, service_type=models.PullVariantsServiceType.ECOMMERCE
)
assert isinstance(groups, list)
assert all(isinstance(each.variants[0], int) for each in groups)
order = models.OrderBody(
    retailer_order_id=sku,
    order_lines=[models.LineBody(sku=sku, quantity=2)],
    shipping_address=models.AddressBody(first_name="Ada", address1="1 High St", country="GB"),
    ship_until=datetime.datetime.now(datetime.UTC).date(),
)
placed = push_order.sync(shop["id"], client=retailer, body=order)
assert isinstance(placed, models.Pushed)
assert placed.code == "order_created"

# The supplier captures, accepts and ships the order.
captured = list_fulfillments.sync(
    acme["id"],
    client=supplier,
    retailer_state=models.ListFulfillmentsRetailerState.ORDERED,
    fulfillment_state=models.ListFulfillmentsFulfillmentState.NEW,
    limit=500,
)
assert isinstance(captured, list)
mine = next(each for each in captured if each.order_id == placed.order_id)
assert (mine.fulfillment_state, mine.lines[0].sku) == (models.FulfillmentState.NEW, sku)
accepted = accept_fulfillment.sync(acme["id"], mine.id, client=supplier, body=models.TrackingBody())
assert isinstance(accepted, models.Result)
assert accepted.success
shipped = ship_fulfillment.sync(
    acme["id"], mine.id, client=supplier, body=models.ShipBody(tracking_number=f"T-{sku}")
)
assert isinstance(shipped, models.Shipped)
assert shipped.code == "shipped"
stock = list_inventory.sync(acme["id"], client=supplier, sku=sku)
assert isinstance(stock, list)
assert [level.on_hand for level in stock] == [7]

# The retailer reads the shipment, and gets an error that names the wrong field.
after = get_order.sync(shop["id"], placed.order_id, client=retailer)
assert isinstance(after, models.Order)
assert after.processing_state == models.ProcessingState.COMPLETED
assert after.fulfillments[0].tracking_numbers == [f"T-{sku}"]
orders = list_orders.sync(shop["id"], client=retailer, retailer_order_id=sku)
assert isinstance(orders, models.Orders)
assert [each.id for each in orders.results] == [placed.order_id]
refused = get_order.sync(shop["id"], 10**15, client=retailer)
assert isinstance(refused, models.ApiError)
assert (refused.code, bool(refused.message), bool(refused.request_id)) == ("not_found", True, True)
wrong = push_order.sync(
    shop["id"],
    client=retailer,
    body=models.OrderBody(retailer_order_id=f"{sku}-0", order_lines=[models.LineBody(sku=sku, quantity=0)]),
)
assert isinstance(wrong, models.ApiError)
assert wrong.errors
assert "quantity" in wrong.errors[0].field
print("shipped")
