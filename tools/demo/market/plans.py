"""The random plans of the market's past orders. The same seed and moment give the same plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tools.demo.market import cast

DAYS, ORDERS = 60, 1_500
SEED = 20_260

# The steps of a fulfillment that change its state, in order.
MOVES = ("accepted", "shipped", "cancel_requested", "canceled")
# The shares of canceled and of returned fulfillments.
CANCELED, RETURNED = 0.025, 0.03


@dataclass
class PlannedLine:
    sku: str
    quantity: int


@dataclass
class PlannedWork:
    """The planned steps of one fulfillment. A step in the future is None."""

    supplier: str
    warehouse: str
    lines: list[PlannedLine]
    created_at: datetime
    captured_at: datetime | None = None
    accepted_at: datetime | None = None
    shipped_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    canceled_at: datetime | None = None
    returned_at: datetime | None = None

    @property
    def steps(self) -> list[tuple[datetime, str]]:
        """Return the steps that change the state, with their times, in order."""
        taken = [(getattr(self, f"{step}_at"), step) for step in MOVES]
        return [(moment, step) for moment, step in taken if moment is not None]


@dataclass
class PlannedOrder:
    """One planned order with its fulfillments."""

    retailer: str
    number: str
    created_at: datetime
    address: dict[str, Any]
    works: list[PlannedWork] = field(default_factory=list)


def plan(now: datetime) -> Iterator[PlannedOrder]:
    """Yield the orders of the last DAYS days in order of their creation."""
    random = Random(SEED)  # noqa: S311 - a repeatable market, not a secret
    for position, created_at in enumerate(_moments(random, now)):
        name, prefix = cast.RETAILERS[random.random() < 0.35]
        order = PlannedOrder(name, f"{prefix}-{100_001 + position}", created_at, _address(random))
        chosen = random.sample(cast.SUPPLIERS, 2 if random.random() < 0.15 else 1)
        order.works = [_work(random, supplier, created_at, now) for supplier in chosen]
        yield order


def _moments(random: Random, now: datetime) -> list[datetime]:
    """Return the times of the orders: fewer at night and on Sundays, more in recent weeks."""
    moments: list[datetime] = []
    while len(moments) < ORDERS:
        moment = now - timedelta(days=DAYS * (1 - random.random() ** 0.8), seconds=random.random())
        awake = 1.0 if 7 <= moment.hour <= 22 else 0.15
        if random.random() < awake * (0.5 if moment.weekday() == 6 else 1.0):
            moments.append(moment)
    return sorted(moments)


def _address(random: Random) -> dict[str, Any]:
    first, last = random.choice(cast.FIRST_NAMES), random.choice(cast.LAST_NAMES)
    city, state, zip_code = random.choice(cast.CITIES)
    return {
        "first_name": first,
        "last_name": last,
        "company_name": "",
        "address1": f"{random.randint(1, 980)} {random.choice(cast.STREETS)}",
        "address2": "",
        "city": city,
        "state": state,
        "zip_code": zip_code,
        "country": "US",
        "email": f"{first}.{last}@example.com".lower(),
        "phone_number": f"+1 202 555 01{random.randint(0, 99):02}",
    }


def _work(random: Random, supplier: cast.MarketSupplier, created_at: datetime, now: datetime) -> PlannedWork:
    goods = random.sample(supplier.goods, random.choices((1, 2, 3), (70, 22, 8))[0])
    lines = [PlannedLine(sku, random.choices((1, 2, 4), (80, 15, 5))[0]) for sku, *_ in goods]
    work = PlannedWork(supplier.name, random.choice(supplier.warehouses), lines, created_at)

    def step(since: datetime, hours: float) -> datetime | None:
        moment = since + timedelta(hours=hours * random.lognormvariate(0, 0.5))
        return moment if moment < now else None

    work.captured_at = step(created_at, 0.3)
    if work.captured_at and random.random() < CANCELED:
        work.cancel_requested_at = step(work.captured_at, 0.5)
        work.canceled_at = work.cancel_requested_at and step(work.cancel_requested_at, 1)
        return work
    # Make one supplier slower from day to day, so that its scorecard shows a trend.
    days_ago = (now - created_at).days
    slower = 1 + max(0, 20 - days_ago) / 12 if supplier.name == "Little Fern Toys" else 1.0
    work.accepted_at = work.captured_at and step(work.captured_at, supplier.to_accept * slower)
    work.shipped_at = work.accepted_at and step(work.accepted_at, supplier.to_ship * slower)
    if work.shipped_at and random.random() < RETURNED:
        work.returned_at = step(work.shipped_at, 150)
    return work
