// The scenario through hey-api's client: stock, an order, its shipping, and an error.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createClient } from "./hey-api-client/client/index.js";
import * as exchange from "./hey-api-client/index.js";

const demo = JSON.parse(readFileSync(process.env.DEMO_JSON!, "utf8"));
const [acme, shop] = [demo.suppliers[0], demo.retailers[0]];
const client = (key: string) => createClient({ baseUrl: demo.base_url, auth: key, throwOnError: true });
const [supplier, retailer] = [client(acme.api_key), client(shop.api_key)];
const sku = `HEY-${Date.now()}`;
const asAcme = { client: supplier, path: { supplier_id: acme.id as number }, throwOnError: true as const };
const asShop = { client: retailer, path: { retailer_id: shop.id as number }, throwOnError: true as const };

// The supplier offers a variant, and says how much there is of it.
const body: exchange.VariantBody = { sku, title: "Lamp", retail_price: 5.5, images: ["https://e.example/1.jpg"] };
const { data: created } = await exchange.createVariant({ ...asAcme, body });
assert.deepEqual(created.images, ["https://e.example/1.jpg"]);
const { data: warehouses } = await exchange.listWarehouses(asAcme);
const { data: pushed } = await exchange.pushInventory({
  ...asAcme,
  body: { warehouse_id: warehouses[0].id, inventories: [{ id: sku, amount: 9 }] },
});
assert.equal(pushed.updated, 1);

// The retailer pulls what there is, and orders.
const { data: groups } = await exchange.pullVariants({ ...asShop, query: { service_type: "ecommerce", limit: 5 } });
assert.ok(groups.every((group) => Number.isInteger(group.variants[0])));
const { data: placed } = await exchange.pushOrder({
  ...asShop,
  body: {
    retailer_order_id: sku,
    order_lines: [{ sku, quantity: 2 }],
    shipping_address: { first_name: "Ada", address1: "1 High St", country: "GB" },
  },
});
assert.equal(placed.code, "order_created");

// The supplier captures, accepts and ships it.
const { data: captured } = await exchange.listFulfillments({
  ...asAcme,
  query: { retailer_state: "ordered", fulfillment_state: "new", limit: 500 },
});
const mine = captured.find((each) => each.order_id === placed.order_id)!;
assert.equal(mine.fulfillment_state, "new");
const it = { ...asAcme, path: { ...asAcme.path, fulfillment_id: mine.id } };
await exchange.acceptFulfillment({ ...it, body: {} });
const { data: shipped } = await exchange.shipFulfillment({ ...it, body: { tracking_number: `T-${sku}` } });
assert.equal(shipped.code, "shipped");

// The retailer sees it, and an error says what is wrong.
const { data: after } = await exchange.getOrder({ ...asShop, path: { ...asShop.path, order_id: placed.order_id } });
assert.equal(after.processing_state, "completed");
assert.deepEqual(after.fulfillments[0].tracking_numbers, [`T-${sku}`]);
const { error, response } = await exchange.pushOrder({
  ...asShop,
  throwOnError: false,
  body: { retailer_order_id: `${sku}-0`, order_lines: [{ sku, quantity: 0 }] },
});
assert.equal(response?.status, 400);
assert.match(error!.errors![0].field, /quantity/);
assert.ok(error!.request_id);
console.log("shipped");
