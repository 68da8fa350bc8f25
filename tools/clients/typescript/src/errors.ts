/** The base class of all errors of a call. */
export class ExchangeError extends Error {
  override name = "ExchangeError";
}

/**
 * No attempt got an answer: the connection failed or timed out. The service may have carried out the request. Repeat
 * the request with the same idempotency key.
 */
export class NotReached extends ExchangeError {
  override name = "NotReached";
}

/** An error of one field; `field` is a path such as `order_lines[2].quantity`. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

/**
 * An answer that reports an error. `code` is for programs, `message` for people, and `errors` names the fields. `docs`
 * is the address of a page that explains how to correct the error. `retryAfter` is the pause in milliseconds that the
 * service requests, or undefined. Quote `requestId` when you ask for help.
 */
export class ApiError extends ExchangeError {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly errors: FieldError[],
    readonly requestId: string,
    readonly docs: string,
    readonly retryAfter: number | undefined,
  ) {
    super(message);
  }

  static of(response: Response, text: string, retryAfter: number | undefined): ApiError {
    const said = parsed(text);
    return new ApiError(
      response.status,
      String(said["code"] ?? "unknown"),
      String(said["message"] ?? response.statusText),
      Array.isArray(said["errors"]) ? (said["errors"] as FieldError[]) : [],
      String(said["request_id"] ?? response.headers.get("X-Request-Id") ?? ""),
      said["docs"] ? new URL(String(said["docs"]), response.url || undefined).href : "",
      retryAfter,
    );
  }
}

/** Returns the object in a JSON text; an empty object for other texts, such as a proxy's page. */
function parsed(text: string): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === "object" && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
