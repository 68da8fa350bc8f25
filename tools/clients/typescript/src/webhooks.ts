import type { Event } from "./models.js";

/** The error for a delivery that is not from the Exchange. Answer such a delivery with 401. */
export class InvalidSignature extends Error {
  override name = "InvalidSignature";
}

export interface VerifyOptions {
  /** The most milliseconds by which a delivery's time may be in the past or in the future. Default: 300,000. */
  tolerance?: number;
  /** For tests. */
  now?: number;
}

type GivenHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks the signature of a delivery by the Standard Webhooks specification, and returns the event. `secrets` is the
 * webhook's `whsec_…`, or both secrets during a rotation. `body` is the unchanged body, before any JSON is parsed.
 * Throws InvalidSignature if no secret fits, or if the delivery's time is more than `tolerance` milliseconds in the
 * past or in the future. Ignore a delivery whose header `webhook-id` you have seen.
 */
export async function verify(
  secrets: string | readonly string[],
  headers: GivenHeaders,
  body: string | Uint8Array,
  { tolerance = 300_000, now = Date.now() }: VerifyOptions = {},
): Promise<Event> {
  const [id, stamp, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((each) => header(headers, each));
  if (!id || !given || !stamp || !/^\d+$/.test(stamp)) {
    throw new InvalidSignature("a header is missing or unreadable");
  }
  if (Math.abs(now - Number(stamp) * 1_000) > tolerance) {
    throw new InvalidSignature("the delivery is too old, or from the future");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${stamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const signatures = given.split(" ").filter((each) => each.startsWith("v1,"));
  const fits = await Promise.all(
    (typeof secrets === "string" ? [secrets] : secrets).flatMap((secret) =>
      signatures.map((signature) => isSigned(secret, signature.slice(3), signed)),
    ),
  );
  if (!fits.includes(true)) throw new InvalidSignature("no signature fits");
  return JSON.parse(new TextDecoder().decode(bytes)) as Event;
}

/** Returns whether the signature fits. The platform's `verify` compares in constant time. */
async function isSigned(secret: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const raw = decoded(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  try {
    return await crypto.subtle.verify("HMAC", key, decoded(signature), signed);
  } catch {
    return false; // the signature is not base64
  }
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}

function header(headers: GivenHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}
