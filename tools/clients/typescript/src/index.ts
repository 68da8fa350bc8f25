export { Retailer, Supplier } from "./client.js";
export { ApiError, ExchangeError, type FieldError, NotReached } from "./errors.js";
export type * as models from "./models.js";
export type { CallOptions, Options } from "./transport.js";
export { InvalidSignature, type VerifyOptions, verify } from "./webhooks.js";
