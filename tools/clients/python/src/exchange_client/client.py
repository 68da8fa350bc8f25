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

        Keep the `id` of the last event that you have worked on, and begin with it next time. At the feed's
        end it waits `every` seconds before it asks again.
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


class Retailer(RetailerOperations, _Feed):
    """The client of a retailer; `id` is the retailer's id. See Transport for the options."""

    def __init__(self, base_url: str, api_key: str, id: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self.party = f"/v3/retailers/{id}"

    def changed_orders(self, since: str | datetime | None = None) -> Iterator[models.Order]:
        """Yield the current state of every order that changed after `since`, the earliest change first.

        Keep the `updated_at` of the last one that you have worked on (as it came: it has microseconds) and
        give it back as `since`: no change is ever missed. Without it: all orders.
        """
        return self.iter_orders(updated_at__gt=since, ordering="updated_at")
