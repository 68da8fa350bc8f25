// Lists across their pages, and the event feed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { all, answer, Service } from "./service.js";

const listing = (ids, next = null) => answer({ results: ids.map((id) => ({ id })), next });
const ids = (found) => found.map((each) => each.id);

test("all pages of a list are read as the service says", async () => {
  const service = new Service();
  const next = "https://exchange.example/v3/retailers/7/orders?cursor=b%2Fc&limit=500";
  service.answers = [listing([1, 2], next), listing([3])];

  assert.deepEqual(ids(await all(service.shop.changedOrders("2026-11-21T08:30:00.001Z"))), [1, 2, 3]);

  const [first, second] = service.asked.map((each) => each.url);
  assert.deepEqual(Object.fromEntries(first.searchParams), {
    limit: "500",
    updated_at__gt: "2026-11-21T08:30:00.001Z",
    ordering: "updated_at",
  });
  assert.equal(second.href, next);
});

test("arrays name the next page in a header", async () => {
  const service = new Service();
  const link = '<https://exchange.example/v3/retailers/7/variants?cursor=x>; rel="next"';
  service.answers = [answer([{ model: "A" }], 200, { Link: link }), answer([])];

  const found = await all(service.shop.iterateVariants({ service_type: "ecommerce" }));

  assert.deepEqual(found, [{ model: "A" }]);
});

test("the key goes to no other address", async () => {
  const service = new Service();
  service.answers = [listing([1], "http://inside.example:8000/v3/retailers/7/orders?cursor=x"), listing([2])];

  assert.deepEqual(ids(await all(service.shop.iterateOrders())), [1, 2]);

  assert.deepEqual([...new Set(service.asked.map((each) => each.url.origin))], ["https://exchange.example"]);
});

test("events are followed beyond the feed's end", async () => {
  const service = new Service();
  service.answers = [listing([4, 6], "/v3/retailers/7/events?after=6"), listing([7]), listing([]), listing([9])];

  assert.deepEqual(ids(await all(service.shop.followEvents(3, { every: 2 }), 4)), [4, 6, 7, 9]);

  assert.deepEqual(service.asked.map((each) => each.url.searchParams.get("after")), ["3", "6", "7", "7"]);
  assert.deepEqual(service.slept, [2, 2]);
});
