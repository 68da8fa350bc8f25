// The scenario through openapi-generator's client for axios: stock, an order, its shipping, and an error.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isAxiosError } from "axios";
import * as exchange from "./axios-client/index.js";

const demo = JSON.parse(readFileSync(process.env.DEMO_JSON!, "utf8"));
const [acme, shop] = [demo.suppliers[0], demo.retailers[0]];
const as = (accessToken: string) => new exchange.Configuration({ basePath: demo.base_url, accessToken });
const [supplier, retailer] = [as(acme.api_key), as(shop.api_key)];
const fulfillments = new exchange.SupplierFulfillmentsApi(supplier);
const stock = new exchange.SupplierStockApi(supplier);
const orders = new exchange.RetailerOrdersApi(retailer);
const sku = `AXI-${Date.now()}`;

// The supplier offers a variant, and says how much there is of it.
const body: exchange.VariantBody = { sku, title: "Lamp", retail_price: 5.5, images: ["https://e.example/1.jpg"] };
const { data: created } = await new exchange.SupplierCatalogApi(supplier).createVariant(acme.id, body);
assert.deepEqual(created.images, ["https://e.example/1.jpg"]);
const { data: warehouses } = await stock.listWarehouses(acme.id);
const { data: pushed } = await stock.pushInventory(acme.id, {
  warehouse_id: warehouses[0].id,
  inventories: [{ id: sku, amount: 9 }],
});
assert.equal(pushed.updated, 1);

// The retailer pulls what there is, and orders.
const { data: groups } = await new exchange.RetailerCatalogApi(retailer).pullVariants(
  shop.id,
  exchange.PullVariantsServiceTypeEnum.Ecommerce,
);
assert.ok(groups.every((group) => Number.isInteger(group.variants[0])));
const { data: placed } = await orders.pushOrder(shop.id, {
  retailer_order_id: sku,
  order_lines: [{ sku, quantity: 2 }],
  shipping_address: { first_name: "Ada", address1: "1 High St", country: "GB" },
});
assert.equal(placed.code, "order_created");

// The supplier captures, accepts and ships it.
const { data: captured } = await fulfillments.listFulfillments(acme.id, undefined, undefined, "new", 500, "ordered");
const mine = captured.find((each) => each.order_id === placed.order_id)!;
assert.equal(mine.fulfillment_state, exchange.FulfillmentState.New);
await fulfillments.acceptFulfillment(mine.id, acme.id, {});
const { data: shipped } = await fulfillments.shipFulfillment(mine.id, acme.id, { tracking_number: `T-${sku}` });
assert.equal(shipped.code, "shipped");

// The retailer sees it, and an error says what is wrong.
const { data: after } = await orders.getOrder(placed.order_id, shop.id);
assert.equal(after.processing_state, exchange.ProcessingState.Completed);
assert.deepEqual(after.fulfillments[0].tracking_numbers, [`T-${sku}`]);
await assert.rejects(
  orders.pushOrder(shop.id, { retailer_order_id: `${sku}-0`, order_lines: [{ sku, quantity: 0 }] }),
  (refused: unknown) => {
    assert.ok(isAxiosError<exchange.ApiError>(refused));
    assert.match(refused.response!.data.errors![0].field, /quantity/);
    return true;
  },
);
console.log("shipped");
