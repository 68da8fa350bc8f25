const RETRIED = new Set([429, 500, 502, 503, 504]);
export const LONGEST_WAIT = 60_000;

/** Returns whether the same request may succeed later: rate limit, busy, or still running. */
export function maySucceedLater(status: number, code: string): boolean {
  return RETRIED.has(status) || (status === 409 && code === "in_progress");
}

/** Returns the milliseconds in `Retry-After` (a number or a date), or undefined if it is missing or unreadable. */
export function retryAfter(response: Response): number | undefined {
  const said = response.headers.get("Retry-After")?.trim();
  if (!said) return undefined;
  const milliseconds = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

/** Returns the milliseconds before the next attempt. They grow, and a random part separates the clients. */
export function backoff(attempt: number): number {
  return (0.5 + Math.random() / 2) * Math.min(500 * 2 ** attempt, LONGEST_WAIT);
}
