// Requests, retries and errors of the client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, NotReached } from "exchange-client";
import { answer, refused, Service } from "./service.js";

const ORDER = { retailer_order_id: "A-1", order_lines: [] };
const PUSHED = { success: true, code: "order_created", message: "", order_id: 5, warnings: [] };

test("a push is sent again under the same key", async () => {
  const service = new Service();
  service.answers = [new TypeError("lost"), refused(503, "busy"), refused(409, "in_progress"), answer(PUSHED, 201)];

  assert.equal((await service.shop.pushOrder(ORDER)).order_id, 5);

  const keys = service.asked.map((each) => each.headers.get("Idempotency-Key"));
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys).size, 1);
  const [first, second, third] = service.slept;
  assert.ok(250 <= first && first <= 500 && 500 <= second && second <= 1000 && 1000 <= third && third <= 2000);
});

test("two pushes have two keys, and one's own is kept", async () => {
  const service = new Service();
  service.answers = [answer(PUSHED), answer(PUSHED), answer(PUSHED)];

  for (const options of [{}, {}, { idempotencyKey: "A-1" }]) await service.shop.pushOrder(ORDER, options);

  const [first, second, third] = service.asked.map((each) => each.headers.get("Idempotency-Key"));
  assert.notEqual(first, second);
  assert.equal(third, "A-1");
});

test("the service says how long to wait", async () => {
  const service = new Service();
  const at = new Date(Date.now() + 40_000).toUTCString();
  service.answers = [
    refused(429, "rate_limited", { "Retry-After": "17" }),
    refused(503, "unavailable", { "Retry-After": at }),
    answer({}),
  ];

  await service.shop.getOrder(5);

  assert.equal(service.slept[0], 17_000);
  assert.ok(35_000 < service.slept[1] && service.slept[1] <= 40_000);
});

test("who is asked to wait long hears so at once", async () => {
  const service = new Service();
  service.answers = [refused(503, "unavailable", { "Retry-After": "3600" })];

  await assert.rejects(service.shop.getOrder(5), { retryAfter: 3_600_000 });

  assert.deepEqual(service.slept, []);
});

test("it gives up", async () => {
  const service = new Service();
  service.answers = Array.from({ length: 6 }, () => refused(500, "internal_error"));
  await assert.rejects(service.shop.getOrder(5), ApiError);
  assert.equal(service.asked.length, 6);

  service.answers = Array.from({ length: 6 }, () => new TypeError("nobody there"));
  await assert.rejects(service.shop.getOrder(5), NotReached);
});

test("what will not get better is asked once, and says all that the service says", async () => {
  const service = new Service();
  const fault = { field: "order_lines[2].quantity", code: "required", message: "Missing." };
  service.answers = [refused(400, "missing_parameter", {}, { errors: [fault] })];

  await assert.rejects(service.shop.pushOrder(ORDER), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.status, error.code, error.message, error.requestId, error.errors],
      [400, "missing_parameter", "No.", "r-1", [fault]],
    );
    return true;
  });

  assert.equal(service.asked.length, 1);
});

test("a proxy's page is an error, too", async () => {
  const service = new Service();
  service.answers = [new Response("<html>", { status: 403, headers: { "X-Request-Id": "p-9" } })];

  await assert.rejects(service.shop.getOrder(5), { code: "unknown", requestId: "p-9" });
});

test("what JSON cannot say is never sent", async () => {
  const service = new Service();

  await assert.rejects(service.shop.pushOrder({ ...ORDER, shipping_paid: NaN }), TypeError);

  assert.deepEqual(service.asked, []);
});

test("a caller's signal ends the call, and nothing is sent again", async () => {
  const service = new Service();
  const caller = new AbortController();
  service.answers = [refused(503, "busy"), answer({})];
  caller.abort();

  await assert.rejects(service.shop.getOrder(5, { signal: caller.signal }), { name: "AbortError" });

  assert.equal(service.asked.length, 1);
});

test("it ends a pause, too", async () => {
  const service = new Service();
  const caller = new AbortController();
  service.answers = [refused(503, "busy"), answer({})];
  service.pause = () => {
    caller.abort();
    return new Promise(() => {});
  };

  await assert.rejects(service.shop.getOrder(5, { signal: caller.signal }), { name: "AbortError" });

  assert.equal(service.asked.length, 1);
});
