/** Whatever a call may throw. */
export class ExchangeError extends Error {
  override name = "ExchangeError";
}

/**
 * No answer came, even when asked again: the connection failed, or took too long. Whether the request was carried
 * out is unknown. Repeat it with the same idempotency key.
 */
export class NotReached extends ExchangeError {
  override name = "NotReached";
}

/** One fault of one field; `field` is a path such as `order_lines[2].quantity`. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

/**
 * An answer that is no success. `code` is for programs, `errors` name the fields; quote `requestId` when you ask for
 * help. `docs` is a page that says what to do. `retryAfter` are the milliseconds that the service wants to be left
 * alone, where it said so.
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

/** The object that a text holds; none where it is a proxy's page. */
function parsed(text: string): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === "object" && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
