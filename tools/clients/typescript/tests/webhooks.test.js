// Deliveries with valid and invalid signatures.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { InvalidSignature, verify } from "exchange-client";

const secretOf = (text) => `whsec_${Buffer.from(text).toString("base64")}`;
const SECRET = secretOf("a secret of thirty-two bytes....");
const OLD = secretOf("the one before it, as long......");
const BODY = '{"id": 12, "type": "order.created", "data": {"name": "Käthe"}}';
const NOW = 1_790_000_000_000;

function delivery(secrets, stamp = NOW / 1_000, body = BODY) {
  const signatures = secrets.map((each) => {
    const key = Buffer.from(each.slice(6), "base64");
    return `v1,${createHmac("sha256", key).update(`e-12.${stamp}.${body}`).digest("base64")}`;
  });
  return { "Webhook-Id": "e-12", "Webhook-Timestamp": String(stamp), "Webhook-Signature": signatures.join(" ") };
}

test("the event of a signed delivery, from text or bytes, however the headers come", async () => {
  const headers = delivery([SECRET]);
  for (const [each, body] of [[headers, BODY], [new Headers(headers), new TextEncoder().encode(BODY)]]) {
    assert.equal((await verify(SECRET, each, body, { now: NOW })).data.name, "Käthe");
  }
});

test("while one secret follows another, either will do", async () => {
  for (const [signedWith, held] of [[[OLD, SECRET], [SECRET]], [[OLD, SECRET], [OLD]], [[SECRET], [OLD, SECRET]]]) {
    assert.equal((await verify(held, delivery(signedWith), BODY, { now: NOW })).id, 12);
  }
});

test("what is not of now is refused", async () => {
  for (const age of [301, -301]) {
    const headers = delivery([SECRET], NOW / 1_000 - age);
    await assert.rejects(verify(SECRET, headers, BODY, { now: NOW }), InvalidSignature);
  }
});

test("what is not signed is refused", async () => {
  const good = delivery([SECRET]);
  for (const [headers, body] of [
    [delivery([OLD]), BODY],
    [good, `${BODY} `],
    [{ ...good, "Webhook-Id": "e-13" }, BODY],
    [{ ...good, "Webhook-Timestamp": String(NOW / 1_000 + 1) }, BODY],
    [{ ...good, "Webhook-Timestamp": "soon" }, BODY],
    [{ ...good, "Webhook-Signature": "v1,not*base64 v2, ," }, BODY],
    [{}, BODY],
  ]) {
    await assert.rejects(verify([SECRET], headers, body, { now: NOW }), InvalidSignature);
  }
});
