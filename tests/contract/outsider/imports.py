"""Helpers that start imports, wait for them and read their counts."""

from __future__ import annotations

from .http_client import unique, well
from .steps import finished

HEADER = "sku,title,retail_price"


def counts(job):
    return {
        name: job[name] for name in ("created", "updated", "unchanged", "rejected", "duplicates") if job[name]
    }


def imported(supplier, job):
    """Wait until a job has ended, and return it. The counts of a successful job must add up to its rows."""
    job = finished(supplier, job)
    if job["status"].startswith("succeeded"):
        parts = ("created", "updated", "unchanged", "rejected", "duplicates")
        assert sum(job[part] for part in parts) == job["rows_total"], job
    return job


def from_file(supplier, area, content, name=None, **fields):
    """Upload a file of products, import it, and return the ended job."""
    path = f"products/{name or unique('f')}.csv"
    area.put(path, content)
    return imported(supplier, well(supplier.post("importProducts", {"file_url": path} | fields), 201))
