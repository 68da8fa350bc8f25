const RETRIED = new Set([429, 500, 502, 503, 504]);
export const LONGEST_WAIT = 60_000;

/** Whether the same request may succeed later: too many, busy, or its twin is still at work. */
export function maySucceedLater(status: number, code: string): boolean {
  return RETRIED.has(status) || (status === 409 && code === "in_progress");
}

/** The milliseconds that the service wants to be left alone, from a number or a date. */
export function retryAfter(response: Response): number | undefined {
  const said = response.headers.get("Retry-After")?.trim();
  if (!said) return undefined;
  const milliseconds = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

/** Milliseconds before the next try: growing, and spread so that clients do not come back all at once. */
export function backoff(attempt: number): number {
  return (0.5 + Math.random() / 2) * Math.min(500 * 2 ** attempt, LONGEST_WAIT);
}
