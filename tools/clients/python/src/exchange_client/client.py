"""The clients of the two roles. Each has the operations that its keys may call."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from exchange_client import models
from exchange_client.operations import RetailerOperations, SupplierOperations
from exchange_client.transport import Transport


class _Feed(Transport):
    """The event feed of a party."""

    party: str

    def follow_events(self, after: int = 0, *, every: float = 5.0) -> Iterator[models.Event]:
        """Yield every event after this id, in order, and wait for new events without end.

        Store the `id` of the last event that you have processed, and pass it as `after` next time. At the end
        of the feed, the method waits `every` seconds and then requests new events.
        """
        while True:
            for event in self.pages(f"{self.party}/events", {"after": after, "limit": 500}):
                after = event["id"]
                yield event
            self.sleep(every)


class Supplier(SupplierOperations, _Feed):
    """The client of a supplier; `id` is the supplier's id. See Transport for the options."""

    def __init__(self, base_url: str, api_key: str, id: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self.party = f"/v3/suppliers/{id}"

    def wait_for_import(self, import_id: int, *, every: float = 1.0, timeout: float = 600.0) -> models.Job:
        """Return an import when it has ended or waits for approval. Then check its `status` and `rejected`.

        The import is read every `every` seconds. Raises TimeoutError when the pauses add up to `timeout`
        seconds.
        """
        waited = 0.0
        while True:
            job = self.get_import(import_id)
            if job["finished_at"] or job["status"] == "awaiting_approval":
                return job
            if waited >= timeout:
                raise TimeoutError(f"import {import_id} is still {job['status']} after {timeout:.0f} s")
            self.sleep(every)
            waited += every


class Retailer(RetailerOperations, _Feed):
    """The client of a retailer; `id` is the retailer's id. See Transport for the options."""

    def __init__(self, base_url: str, api_key: str, id: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self.party = f"/v3/retailers/{id}"

    def changed_orders(self, since: str | datetime | None = None) -> Iterator[models.Order]:
        """Yield the current state of every order that changed after `since`, the earliest change first.

        Store the `updated_at` of the last order that you processed, unchanged with its microseconds, and pass
        it as `since` next time. Then no change is missed. Without `since`, all orders are read.
        """
        return self.iter_orders(updated_at__gt=since, ordering="updated_at")
