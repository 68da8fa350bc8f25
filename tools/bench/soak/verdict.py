"""The conditions of a passed soak: each acknowledged record exists once, and readers received it once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import psycopg

from tools.bench.soak.traffic import Seen

SHIPPED = "shipped"  # the state that clients read: the soak does not import the models of the service
GROWTH = 1.5
"""The highest growth of a part's memory since the warm-up, as a factor."""
TRACEBACK = "Traceback (most recent call last):"
EXPECTED = "the database did not answer"
MOST_CAUSES = 5
"""The most tracebacks in a report. The report shows tracebacks, because a run deletes its logs at the end."""
SMALL = 64 * 1024**2
"""Fewer bytes of growth are ignored, because a part that has just started needs less memory than later."""


def lost_or_doubled(seen: Seen, database: str, retailer_id: int, supplier_id: int) -> Iterator[str]:
    """Yield a sentence for each record of these parties that differs from its acknowledgement."""
    with psycopg.connect(database) as session:
        rows = session.execute(
            "SELECT id, retailer_order_id FROM orders_order WHERE retailer_id = %s", (retailer_id,)
        ).fetchall()
        events = session.execute(
            "SELECT order_id FROM events_event WHERE type = 'order.created' AND retailer_id = %s",
            (retailer_id,),
        ).fetchall()
        jobs: dict[int, str] = dict(session.execute("SELECT id, status FROM imports_importjob").fetchall())
        uploads = set(session.execute("SELECT path, sha256 FROM sftp_ingest_upload").fetchall())
        unshipped = session.execute(
            "SELECT count(*) FROM fulfillments_fulfillment WHERE state <> %s AND supplier_id = %s",
            (SHIPPED, supplier_id),
        ).fetchone()
    stored = Counter(number for _, number in rows)
    ids = {number: pk for pk, number in rows}
    yield from (f"order {number} is there {times} times" for number, times in stored.items() if times > 1)
    yield from (f"order {number} was lost" for number in seen.orders.keys() - stored.keys())
    for number, pk in seen.orders.items():
        if number in ids and ids[number] != pk:
            yield f"order {number} was acknowledged as {pk} and is {ids[number]}"
    recorded = Counter(pk for (pk,) in events)
    yield from (f"order {pk} was created {times} times" for pk, times in recorded.items() if times > 1)
    shown = Counter(seen.created)
    yield from (f"the creation of {pk} was shown {times} times" for pk, times in shown.items() if times > 1)
    yield from (f"the creation of {pk} was never shown" for pk in ids.values() if pk not in shown)
    yield from (f"order {pk} was never polled" for pk in ids.values() if pk not in seen.stamps)
    if seen.events != sorted(set(seen.events)):
        yield "events came out of order or twice"
    yield from (f"import {pk} is {jobs.get(pk)}" for pk in seen.imported if jobs.get(pk) != "succeeded")
    yield from (f"the upload {path} was lost" for path, _ in seen.uploaded.items() - uploads)
    if unshipped and unshipped[0]:
        yield f"{unshipped[0]} fulfillments were not shipped in the end"
    yield from seen.complaints


def unexpected(answers: Mapping[str, int], logs: Iterable[Path] = ()) -> Iterator[str]:
    """Yield a sentence if any answer was a 500. A fault may cause a 502 or 503, never a 500."""
    if answers.get("500"):
        causes = [each for log in logs for each in tracebacks(log.read_text(errors="replace"))]
        yield "\n\n".join([f"{answers['500']} requests were answered with 500", *causes[:MOST_CAUSES]])


def tracebacks(log: str) -> list[str]:
    """Return the unforeseen errors of a log with their tracebacks, each up to the next dated line."""
    entries = re.split(r"^(?=\d{4}-\d\d-\d\d )", log, flags=re.MULTILINE)
    return [each.strip() for each in entries if TRACEBACK in each and EXPECTED not in each]


def grown(warm: Mapping[str, int], now: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each part whose memory has grown too much since the warm-up."""
    for part, before in warm.items():
        after = now.get(part, 0)
        if after > before * GROWTH and after - before > SMALL:
            yield f"{part} grew from {before / 2**20:.0f} to {after / 2**20:.0f} MiB"
