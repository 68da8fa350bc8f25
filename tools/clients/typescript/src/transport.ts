import { ApiError, NotReached } from "./errors.js";
import { backoff, LONGEST_WAIT, maySucceedLater, retryAfter } from "./retries.js";

export interface Options {
  /** The number of attempts after the first. Default: 5. */
  retries?: number;
  /** The time limit of an attempt in milliseconds, including the whole answer. Default: 30,000. */
  timeout?: number;
  /** Replaces `fetch`, in tests or to add a proxy. */
  fetch?: typeof fetch;
  /** For tests. */
  sleep?: (milliseconds: number) => Promise<void>;
}

export interface CallOptions {
  /** Your own key for a POST. If you store the key, you can repeat the POST safely after your program restarts. */
  idempotencyKey?: string;
  /** The ETag of the version that you read. If the object has changed since, the answer is 412. */
  ifMatch?: string;
  /** Is called with the headers of the answer, such as its `ETag`. */
  onHeaders?: (headers: Headers) => void;
  /** Ends the call, also during a pause. */
  signal?: AbortSignal;
}

type Query = Record<string, unknown>;

/**
 * The requests of one party. All calls are safe to repeat, because a POST has an idempotency key. A call is repeated if
 * no answer arrived, or if the same request may succeed later. The first wait is up to half a second, and later waits
 * are longer. The client waits as long as `Retry-After` requests, up to a minute. If the service requests a longer
 * wait, the call fails.
 */
export abstract class Transport {
  readonly #base: URL;
  readonly #apiKey: string;
  readonly #retries: number;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;
  readonly sleep: (milliseconds: number) => Promise<void>;

  constructor(baseUrl: string, apiKey: string, options: Options = {}) {
    this.#base = new URL(baseUrl);
    this.#apiKey = apiKey;
    this.#retries = options.retries ?? 5;
    this.#timeout = options.timeout ?? 30_000;
    // Browsers require that `fetch` is called without `this` of another object.
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
    this.sleep = options.sleep ?? ((milliseconds) => new Promise((done) => setTimeout(done, milliseconds)));
  }

  /** Returns JSON, text or the bytes of a file. Throws ApiError for a refusal, NotReached without an answer. */
  protected async call<T>(
    method: string,
    path: string,
    query?: Query,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<T> {
    const { response, bytes } = await this.#send(method, this.#url(path, query), body, options);
    options.onHeaders?.(response.headers);
    return content(response, bytes) as T;
  }

  /** Yields every item of a list, across its pages. A feed of events ends at its newest event. */
  protected async *pages<T>(path: string, query: Query): AsyncGenerator<T> {
    let url: URL | undefined = this.#url(path, query);
    while (url) {
      const { response, bytes } = await this.#send("GET", url, undefined, {});
      const found = content(response, bytes) as T[] | { results: T[]; next: string | null };
      yield* Array.isArray(found) ? found : found.results;
      const next = Array.isArray(found) ? linked(response) : found.next;
      url = next ? this.#atHome(next) : undefined;
    }
  }

  #url(path: string, query: Query = {}): URL {
    const url = new URL(this.#base);
    url.pathname = url.pathname.replace(/\/$/, "") + path;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, text(value));
    }
    return url;
  }

  /** Uses only the path of the link, so that the key never goes to another host. */
  #atHome(next: string): URL {
    const { pathname, search } = new URL(next, this.#base);
    const url = this.#url(pathname);
    url.search = search;
    return url;
  }

  async #send(method: string, url: URL, body: unknown, options: CallOptions) {
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.#apiKey}`,
      Accept: "application/json, text/csv, application/pdf",
    };
    if (method === "POST") headers["Idempotency-Key"] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.ifMatch !== undefined) headers["If-Match"] = options.ifMatch;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const sent = body === undefined ? null : JSON.stringify(body, finite);
    for (let attempt = 0; ; attempt += 1) {
      const last = attempt >= this.#retries;
      let pause = backoff(attempt);
      try {
        const signal = AbortSignal.any([
          AbortSignal.timeout(this.#timeout),
          ...(options.signal ? [options.signal] : []),
        ]);
        const response = await this.#fetch(url, { method, headers, body: sent, signal });
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (response.ok) return { response, bytes };
        const wanted = retryAfter(response);
        const error = ApiError.of(response, decode(bytes), wanted);
        if (last || !maySucceedLater(error.status, error.code) || (wanted ?? 0) > LONGEST_WAIT) throw error;
        pause = wanted ?? pause;
      } catch (error) {
        if (error instanceof ApiError) throw error;
        options.signal?.throwIfAborted();
        if (last) throw new NotReached(`${method} ${url.pathname}: ${String(error)}`, { cause: error });
      }
      await this.#pause(pause, options.signal);
    }
  }

  /** Waits, unless the caller's signal ends the call. */
  async #pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    let end = () => {};
    const ended = new Promise<void>((done) => (end = done));
    signal?.addEventListener("abort", end, { once: true });
    await Promise.race([this.sleep(milliseconds), ended]);
    signal?.removeEventListener("abort", end);
    signal?.throwIfAborted();
  }
}

function content(response: Response, bytes: Uint8Array): unknown {
  const kind = response.headers.get("Content-Type") ?? "";
  if (kind.includes("json")) return JSON.parse(decode(bytes));
  return kind.startsWith("text/") || bytes.length === 0 ? decode(bytes) : bytes;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Returns the address of `rel="next"` in an answer's Link header. */
function linked(response: Response): string | undefined {
  return /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get("Link") ?? "")?.[1];
}

function text(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Refuses NaN and infinity: JSON would write null, which would clear a field. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}`);
  return value;
}
