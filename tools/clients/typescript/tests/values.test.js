// Files, ETags, and imports that end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Supplier } from "exchange-client";
import { answer, Service } from "./service.js";

function acme(service) {
  return new Supplier("https://exchange.example", "fxk_secret", 1, {
    fetch: async (url, request) => {
      service.asked.push({ url: new URL(url), ...request, headers: new Headers(request.headers) });
      return service.answers.shift();
    },
    sleep: async (milliseconds) => service.slept.push(milliseconds),
  });
}

test("a packing slip is bytes", async () => {
  const service = new Service();
  const pdf = new Uint8Array([37, 80, 68, 70, 255]);
  service.answers = [new Response(pdf, { headers: { "Content-Type": "application/pdf" } })];

  assert.deepEqual(await acme(service).getPackingSlip(5), pdf);
});

test("a change can be bound to what was read", async () => {
  const service = new Service();
  service.answers = [answer({}, 200, { ETag: '"a"' }), answer({})];
  let etag;
  await acme(service).getVariant(5, {}, { onHeaders: (headers) => (etag = headers.get("ETag")) });
  await acme(service).changeVariant(5, { title: "Mug" }, { ifMatch: etag });

  assert.equal(service.asked[1].headers.get("If-Match"), '"a"');
});

test("an import is waited for", async () => {
  const service = new Service();
  const job = { id: 3, status: "running", finished_at: null };
  service.answers = [answer(job), answer({ ...job, status: "succeeded", finished_at: "2026-11-24T01:00:00Z" })];

  assert.equal((await acme(service).waitForImport(3)).status, "succeeded");
  assert.deepEqual(service.slept, [1000]);
});

test("an import that takes too long is an error", async () => {
  const service = new Service();
  service.answers = Array.from({ length: 4 }, () => answer({ id: 3, status: "running", finished_at: null }));

  await assert.rejects(acme(service).waitForImport(3, { timeout: 3_000 }), /import 3 is still running/);
});
