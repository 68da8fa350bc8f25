import type { Event, Job, Order } from "./models.js";
import { RetailerOperations, SupplierOperations } from "./operations.js";
import type { Options, Transport } from "./transport.js";

/** The client of a supplier; `id` is the supplier's id. */
export class Supplier extends SupplierOperations {
  protected readonly party: string;

  constructor(baseUrl: string, apiKey: string, id: number, options: Options = {}) {
    super(baseUrl, apiKey, options);
    this.party = `/v3/suppliers/${id}`;
  }

  /** Yields every event after this id, without end; see `followEvents` of the Retailer. */
  followEvents(after = 0, options: FollowOptions = {}): AsyncGenerator<Event> {
    return follow(this, (last) => this.iterateEvents({ after: last }), after, options);
  }

  /**
   * Returns an import when it has ended or waits for approval. Then check its `status` and `rejected`. The import is
   * read every `every` milliseconds. Throws an Error when the pauses add up to `timeout` milliseconds.
   */
  async waitForImport(importId: number, { every = 1_000, timeout = 600_000 }: WaitOptions = {}): Promise<Job> {
    for (let waited = 0; ; waited += every) {
      const job = await this.getImport(importId);
      if (job.finished_at || job.status === "awaiting_approval") return job;
      if (waited >= timeout) throw new Error(`import ${importId} is still ${job.status} after ${timeout / 1000} s`);
      await this.sleep(every);
    }
  }
}

/** The client of a retailer; `id` is the retailer's id. */
export class Retailer extends RetailerOperations {
  protected readonly party: string;

  constructor(baseUrl: string, apiKey: string, id: number, options: Options = {}) {
    super(baseUrl, apiKey, options);
    this.party = `/v3/retailers/${id}`;
  }

  /**
   * Yields every event after this id, in order, and waits for new events without end. Store the `id` of the last
   * event that you processed, and pass it as `after` next time. At the end of the feed, the method waits `every`
   * milliseconds and then requests new events.
   */
  followEvents(after = 0, options: FollowOptions = {}): AsyncGenerator<Event> {
    return follow(this, (last) => this.iterateEvents({ after: last }), after, options);
  }

  /**
   * Yields the current state of every order that changed after `since`, the earliest change first. Store the
   * `updated_at` of the last order that you processed, and pass it as `since` next time. Then no change is missed.
   * Without `since`, all orders are read.
   */
  changedOrders(since?: string | Date): AsyncGenerator<Order> {
    return this.iterateOrders({ updated_at__gt: since, ordering: "updated_at" });
  }
}

export interface WaitOptions {
  /** Milliseconds between two requests. Default: 1,000. */
  every?: number;
  /** Milliseconds of all pauses together. Default: 600,000. */
  timeout?: number;
}

export interface FollowOptions {
  /** Milliseconds between two requests at the feed's end. Default: 5,000. */
  every?: number;
}

async function* follow(
  transport: Transport,
  since: (after: number) => AsyncGenerator<Event>,
  after: number,
  { every = 5_000 }: FollowOptions,
): AsyncGenerator<Event> {
  for (;;) {
    for await (const event of since(after)) {
      after = event.id;
      yield event;
    }
    await transport.sleep(every);
  }
}
