import type { Event, Job, Order } from "./models.js";
import { RetailerOperations, SupplierOperations } from "./operations.js";
import type { Options, Transport } from "./transport.js";

/** What a supplier does; `id` is the supplier's own. */
export class Supplier extends SupplierOperations {
  protected readonly party: string;

  constructor(baseUrl: string, apiKey: string, id: number, options: Options = {}) {
    super(baseUrl, apiKey, options);
    this.party = `/v3/suppliers/${id}`;
  }

  /** Each event after the one with this id, for ever; see the Retailer's. */
  followEvents(after = 0, options: FollowOptions = {}): AsyncGenerator<Event> {
    return follow(this, (last) => this.iterateEvents({ after: last }), after, options);
  }

  /**
   * An import when it has ended or waits for approval: look at its `status` and `rejected`. It asks again after
   * `every` milliseconds, and throws an Error after `timeout` milliseconds of pauses.
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

/** What a retailer does; `id` is the retailer's own. */
export class Retailer extends RetailerOperations {
  protected readonly party: string;

  constructor(baseUrl: string, apiKey: string, id: number, options: Options = {}) {
    super(baseUrl, apiKey, options);
    this.party = `/v3/retailers/${id}`;
  }

  /**
   * Each event after the one with this id, for ever, in order, none left out. Keep the `id` of the last one that
   * you have worked on, and begin with it next time. At the feed's end it waits before it asks again.
   */
  followEvents(after = 0, options: FollowOptions = {}): AsyncGenerator<Event> {
    return follow(this, (last) => this.iterateEvents({ after: last }), after, options);
  }

  /**
   * Every order that changed after `since`, the earliest change first, as they stand now. Keep the `updated_at`
   * of the last one that you have worked on, and give it back: no change is ever missed. Without it: all orders.
   */
  changedOrders(since?: string | Date): AsyncGenerator<Order> {
    return this.iterateOrders({ updated_at__gt: since, ordering: "updated_at" });
  }
}

export interface WaitOptions {
  /** Milliseconds between two questions: 1,000. */
  every?: number;
  /** Milliseconds of all pauses: 600,000. */
  timeout?: number;
}

export interface FollowOptions {
  /** Milliseconds between two questions at the feed's end: 5,000. */
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
