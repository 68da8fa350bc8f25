// The scenario through the TypeScript client that `make packages` makes: stock, an order, its shipping, an error, a webhook.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, InvalidSignature, type models, Retailer, Supplier, verify } from "exchange-client";

const demo = JSON.parse(readFileSync(process.env.DEMO_JSON!, "utf8"));
const acme = new Supplier(demo.base_url, demo.suppliers[0].api_key, demo.suppliers[0].id);
const shop = new Retailer(demo.base_url, demo.retailers[0].api_key, demo.retailers[0].id);
const sku = `NPM-${Date.now()}`;

async function first<T>(items: AsyncIterable<T>, fits: (item: T) => boolean = () => true): Promise<T | undefined> {
  for await (const item of items) if (fits(item)) return item;
  return undefined;
}

/** A delivery of this service verifies, with the secret before and the new one; a changed one does not. */
async function webhooksAreReceived(): Promise<void> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // Other scenarios push orders beside this one; a type that none of them is about leaves the test alone.
  const webhook = await shop.createWebhook({ url: `http://127.0.0.1:${port}/hooks`, types: ["order.held"] });
  const [old, rotated] = [webhook.secret!, (await shop.rotateWebhook(webhook.id)).secret!];
  const came = once(server, "request");
  await shop.testWebhook(webhook.id);
  const [request, response] = await came;
  let body = "";
  for await (const part of request) body += part;
  response.writeHead(204).end();
  for (const secrets of [old, rotated, ["whsec_AAAA", rotated]]) {
    assert.equal((await verify(secrets, request.headers, body)).type, "webhook.tested");
  }
  await assert.rejects(verify([old, rotated], request.headers, `${body} `), InvalidSignature);
  await shop.deleteWebhook(webhook.id);
  server.close();
}

// The supplier offers a variant, and says how much there is of it.
const created = await acme.createVariant({ sku, title: "Lamp", retail_price: 5.5 });
assert.equal((await acme.getVariant(created.id)).retail_price, 5.5);
assert.equal((await first(acme.iterateVariants({ sku })))?.id, created.id);
const [warehouse] = await acme.listWarehouses();
const counted = await acme.pushInventory({ warehouse_id: warehouse!.id, inventories: [{ id: sku, amount: 9 }] });
assert.equal(counted.updated, 1);

// The retailer pulls what there is, and orders; the same push again is the same order.
const groups = shop.iterateVariants({ service_type: "ecommerce" });
assert.ok(await first(groups, (group) => group.variants.includes(created.id)));
const order: models.OrderBody = {
  retailer_order_id: sku,
  order_lines: [{ sku, quantity: 2 }],
  shipping_address: { first_name: "Ada", address1: "1 High St", country: "GB" },
};
const before = await first(shop.iterateOrders({ ordering: "-updated_at", limit: 1 }));
const placed = await shop.pushOrder(order, { idempotencyKey: sku });
assert.equal(placed.code, "order_created");
assert.deepEqual(await shop.pushOrder(order, { idempotencyKey: sku }), placed);

// The supplier captures, accepts and ships it.
const captured = acme.iterateFulfillments({ retailer_state: "ordered", fulfillment_state: "new" });
const work = await first(captured, (each) => each.order_id === placed.order_id);
assert.ok((await acme.acceptFulfillment(work!.id)).success);
assert.equal((await acme.shipFulfillment(work!.id, { tracking_number: `T-${sku}` })).code, "shipped");
assert.equal((await first(acme.iterateInventory({ sku })))?.on_hand, 7);

// The retailer hears of it in both ways, and an error says what is wrong.
const changed = await first(shop.changedOrders(before?.updated_at), (each) => each.id === placed.order_id);
assert.equal(changed?.processing_state, "completed");
assert.deepEqual(changed?.fulfillments[0]?.tracking_numbers, [`T-${sku}`]);
const isShipped = (each: models.Event) => each.order_id === placed.order_id && each.type === "fulfillment.shipped";
assert.ok(await first(shop.followEvents(), isShipped));
const without = { retailer_order_id: `${sku}-0`, order_lines: order.order_lines };
await assert.rejects(shop.pushOrder(without), (error) => {
  assert.ok(error instanceof ApiError && error.status === 400 && error.requestId);
  assert.ok(error.errors.some((each) => each.field === "shipping_address.country"));
  return true;
});
if (process.env.WEBHOOK_NETWORKS?.includes("127.0.0.0/8")) await webhooksAreReceived();
console.log("shipped");
