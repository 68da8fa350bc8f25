// The scenario through openapi-typescript's types, with openapi-fetch: stock, an order, its shipping, and an error.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./exchange.js";

type Order = components["schemas"]["Order"];

const demo = JSON.parse(readFileSync(process.env.DEMO_JSON!, "utf8"));
const [acme, shop] = [demo.suppliers[0], demo.retailers[0]];
const client = (key: string) =>
  createClient<paths>({ baseUrl: demo.base_url, headers: { Authorization: `Bearer ${key}` } });
const [supplier, retailer] = [client(acme.api_key), client(shop.api_key)];
const sku = `OTS-${Date.now()}`;
const [atAcme, atShop] = [{ supplier_id: acme.id as number }, { retailer_id: shop.id as number }];

/** What was answered, where that was no error. */
function data<T>(answer: { data?: T; error?: { message: string } }): T {
  assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  return answer.data!;
}

// The supplier offers a variant, and says how much there is of it.
const created = data(
  await supplier.POST("/v3/suppliers/{supplier_id}/variants", {
    params: { path: atAcme },
    body: { sku, title: "Lamp", retail_price: 5.5, images: ["https://e.example/1.jpg"] },
  }),
);
assert.deepEqual(created.images, ["https://e.example/1.jpg"]);
const warehouses = data(
  await supplier.GET("/v3/suppliers/{supplier_id}/warehouses", { params: { path: atAcme } }),
);
const pushed = data(
  await supplier.POST("/v3/suppliers/{supplier_id}/inventory", {
    params: { path: atAcme },
    body: { warehouse_id: warehouses[0].id, inventories: [{ id: sku, amount: 9 }] },
  }),
);
assert.equal(pushed.updated, 1);

// The retailer pulls what there is, and orders.
const groups = data(
  await retailer.GET("/v3/retailers/{retailer_id}/variants", {
    params: { path: atShop, query: { service_type: "ecommerce", limit: 5 } },
  }),
);
assert.ok(groups.every((group) => Number.isInteger(group.variants[0])));
const placed = data(
  await retailer.POST("/v3/retailers/{retailer_id}/orders", {
    params: { path: atShop },
    body: {
      retailer_order_id: sku,
      order_lines: [{ sku, quantity: 2 }],
      shipping_address: { first_name: "Ada", address1: "1 High St", country: "GB" },
    },
  }),
);
assert.equal(placed.code, "order_created");

// The supplier captures, accepts and ships it.
const captured = data(
  await supplier.GET("/v3/suppliers/{supplier_id}/fulfillments", {
    params: { path: atAcme, query: { retailer_state: "ordered", fulfillment_state: "new", limit: 500 } },
  }),
);
const mine = captured.find((each) => each.order_id === placed.order_id)!;
assert.equal(mine.fulfillment_state, "new");
const path = { ...atAcme, fulfillment_id: mine.id };
data(
  await supplier.PUT("/v3/suppliers/{supplier_id}/fulfillments/{fulfillment_id}/setStatus/accepted", {
    params: { path },
    body: {},
  }),
);
const shipped = data(
  await supplier.PUT("/v3/suppliers/{supplier_id}/fulfillments/{fulfillment_id}/setStatus/shipped", {
    params: { path },
    body: { tracking_number: `T-${sku}` },
  }),
);
assert.equal(shipped.code, "shipped");

// The retailer sees it, and an error says what is wrong.
const after: Order = data(
  await retailer.GET("/v3/retailers/{retailer_id}/orders/{order_id}", {
    params: { path: { ...atShop, order_id: placed.order_id } },
  }),
);
assert.equal(after.processing_state, "completed");
assert.deepEqual(after.fulfillments[0].tracking_numbers, [`T-${sku}`]);
const { error, response } = await retailer.POST("/v3/retailers/{retailer_id}/orders", {
  params: { path: atShop },
  body: { retailer_order_id: `${sku}-0`, order_lines: [{ sku, quantity: 0 }] },
});
assert.equal(response.status, 400);
assert.match(error!.errors![0].field, /quantity/);
assert.ok(error!.request_id);
console.log("shipped");
