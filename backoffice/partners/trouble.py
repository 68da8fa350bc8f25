"""The trouble of suppliers and retailers: the count of their work that needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import F, Func, IntegerField, QuerySet, Sum, Value
from django.utils import timezone
from django.utils.text import capfirst

from accounts.models import Supplier
from accounts.scopes import Role
from backoffice.desk.feeds import stale_feeds
from backoffice.desk.kinds import BY_NAME
from fulfillments.models import DailySum, Fulfillment
from fulfillments.scorecard.measures import REJECTED
from fulfillments.scorecard.selectors import ALL

DAYS = 7
MOST_COUNTED = 10_000
"""The maximum number of waiting rows that are counted for each reason, oldest first."""


@dataclass(frozen=True)
class Trouble:
    """The troubles of a party. `counts` maps the name of each trouble to its number."""

    counts: dict[str, int]

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    def __str__(self) -> str:
        return capfirst(", ".join(f"{name}: {count}" for name, count in self.counts.items()))


def troubles(role: Role) -> dict[int, Trouble]:
    """Return the troubles of the parties of a role, most trouble first. Parties without trouble are left out.

    The number of queries is fixed.
    """
    reasons = _of_suppliers() if role is Role.SUPPLIER else _of_retailers()
    parties = {party for counts in reasons.values() for party in counts}
    found = {
        party: Trouble({name: counts[party] for name, counts in reasons.items() if counts[party]})
        for party in parties
    }
    return dict(sorted(found.items(), key=lambda each: (-each[1].size, each[0])))


def most_trouble_first(rows: QuerySet[Any], found: dict[int, Trouble]) -> QuerySet[Any]:
    """Sort parties by their trouble, then by name."""
    if not found:
        return rows.order_by("name")
    position = Func(
        Value([*found]),
        F("pk"),
        function="array_position",
        template="%(function)s(%(expressions)s)",
        output_field=IntegerField(),
    )
    return rows.order_by(position.asc(nulls_last=True), "name")


def _of_suppliers() -> dict[str, Counter[int]]:
    overdue = Fulfillment.objects.overdue().order_by("due_at").values_list("supplier_id", flat=True)
    return {
        "overdue": Counter(overdue[:MOST_COUNTED]),
        "refused this week": _refused(),
        "imports to check": _waiting(("approval", "failed"), "supplier_id"),
        "silent feed": Counter(stale_feeds().values_list("pk", flat=True)),
    }


def _of_retailers() -> dict[str, Counter[int]]:
    return {
        "refused by all": _waiting(("refused",), "retailer_id"),
        "held": _waiting(("held",), "retailer_id"),
        "unknown countries": _waiting(("country",), "retailer_id"),
        "failing webhooks": _waiting(("webhook",), "retailer_id"),
    }


def _refused() -> Counter[int]:
    """Count the refusals of the last days by supplier, from the daily sums.

    The filter lists all suppliers, because the index of the sums begins with the supplier.
    """
    since = timezone.now().date() - timedelta(days=DAYS - 1)
    sums = DailySum.objects.filter(
        supplier_id__in=Supplier.objects.values("pk"), retailer_id=ALL, day__gte=since, measure=REJECTED
    )
    return Counter(dict(sums.order_by().values_list("supplier_id").annotate(Sum("count"))))


def _waiting(kinds: Iterable[str], party: str) -> Counter[int]:
    """Count the open work of these desk kinds by party."""
    counts: Counter[int] = Counter()
    for kind in kinds:
        rows = (
            BY_NAME[kind]
            .rows()
            .prefetch_related(None)
            .order_by("pk")
            .values_list(party, flat=True)[:MOST_COUNTED]
        )
        counts.update(each for each in rows if each is not None)
    return counts
