"""The two roles: each has the operations that its keys may call."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from exchange_client import models
from exchange_client.operations import RetailerOperations, SupplierOperations
from exchange_client.transport import Transport


class _Feed(Transport):
    """What happened to a party, as it happens."""

    party: str

    def follow_events(self, after: int = 0, *, every: float = 5.0) -> Iterator[models.Event]:
        """Each event after the one with this id, for ever, in order, none left out.

        Keep the `id` of the last event that you have worked on, and begin with it next time. At the feed's
        end it waits `every` seconds before it asks again.
        """
        while True:
            for event in self.pages(f"{self.party}/events", {"after": after, "limit": 500}):
                after = event["id"]
                yield event
            self.sleep(every)


class Supplier(SupplierOperations, _Feed):
    """What a supplier does; `id` is the supplier's own. See Transport for the options."""

    def __init__(self, base_url: str, api_key: str, id: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self.party = f"/v3/suppliers/{id}"


class Retailer(RetailerOperations, _Feed):
    """What a retailer does; `id` is the retailer's own. See Transport for the options."""

    def __init__(self, base_url: str, api_key: str, id: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self.party = f"/v3/retailers/{id}"

    def changed_orders(self, since: str | datetime | None = None) -> Iterator[models.Order]:
        """Every order that changed after `since`, the earliest change first, as they stand now.

        Keep the `updated_at` of the last one that you have worked on (as it came: it has microseconds) and
        give it back as `since`: no change is ever missed. Without it: all orders.
        """
        return self.iter_orders(updated_at__gt=since, ordering="updated_at")
