"""Events and epochs. History, event feed and webhooks all read the same event rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from django.db import connection, models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Retailer, Supplier
from accounts.scopes import Scope
from api.prefix_search import folded
from events.epochs import notice

ACCOUNTS = "accounts"
"""The area of events for operators only. No scope covers it, so these events are in no feed."""

OPERATORS = "user:"
"""The prefix of operators' actor names."""

# The key of the advisory lock for numbering events. Only one process numbers events at a time, so that
# numbers become visible in order.
NUMBERING_LOCK = 4_201


BY_OPERATORS = Q(actor__startswith=OPERATORS)

# The most events that one statement numbers. A statement for a long backlog could exceed the time limit.
BATCH = 1_000

# SQL that numbers the oldest events without a number, only in the epoch of this database (events.epochs).
# It avoids joins: with old statistics, the planner chose nested loops, and 20,000 events took minutes.
NUMBER = """
    UPDATE events_event SET number = array_position(oldest.ids, id) + greatest(
        (SELECT max(number) FROM events_event),
        (SELECT events_after FROM events_epoch ORDER BY id DESC LIMIT 1)
    )
    FROM (
        SELECT ARRAY(SELECT id FROM events_event WHERE number IS NULL ORDER BY id LIMIT %s) AS ids
    ) AS oldest
    WHERE id = ANY(oldest.ids)
        AND (SELECT incarnation = incarnation() FROM events_epoch ORDER BY id DESC LIMIT 1)
"""


def areas_of(scopes: Iterable[Scope]) -> frozenset[str]:
    """Return the areas of events that scopes cover. Read and write scopes cover the same areas.

    A key with access to orders may also see the events of their fulfillments.
    """
    areas = {scope.value.split(":")[0] for scope in scopes}
    return frozenset(areas | ({"fulfillments"} if "orders" in areas else set()))


class EventQuerySet(models.QuerySet["Event"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)

    def in_scopes(self, scopes: frozenset[Scope]) -> Self:
        """Return the events in the areas that these scopes cover."""
        return self.filter(area__in=areas_of(scopes))

    def published(self) -> Self:
        return self.filter(number__isnull=False)


class Event(models.Model):
    """A recorded change of an order, a fulfillment, an import or another record, with its actor."""

    number = models.BigIntegerField(
        null=True,
        unique=True,
        editable=False,
        help_text="The position in the feed. It is set after the commit, so numbers appear in order.",
    )
    type = models.CharField(max_length=50, help_text="Dotted past tense, such as fulfillment.accepted.")
    area = models.CharField(max_length=20, help_text="The area of its scope: fulfillments, orders, …")
    occurred_at = models.DateTimeField(db_default=Now())
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, null=True, related_name="+")
    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, null=True, related_name="+")
    order_id = models.BigIntegerField(null=True)
    fulfillment_id = models.BigIntegerField(null=True)
    import_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=200)
    request_id = models.CharField(max_length=100, blank=True)
    from_state = models.CharField(max_length=30, blank=True)
    to_state = models.CharField(max_length=30, blank=True)
    data = models.JSONField(default=dict)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index("id", condition=Q(number=None), name="event_unnumbered"),
            models.Index("supplier", "number", name="event_of_supplier"),
            models.Index("retailer", "number", name="event_of_retailer"),
            # These indexes serve pollers that request a rare type. PostgreSQL chooses them only because they
            # include `area`. Otherwise it would read the events of all parties by number.
            *(
                models.Index(
                    party,
                    "type",
                    "number",
                    include=["area"],
                    condition=Q(number__isnull=False),
                    name=f"event_type_of_{party}",
                )
                for party in ("supplier", "retailer")
            ),
            models.Index("area", "id", name="event_in_area"),
            models.Index("order_id", "id", condition=Q(order_id__isnull=False), name="event_of_order"),
            models.Index("import_id", "id", condition=Q(import_id__isnull=False), name="event_of_import"),
            # These two indexes serve the list of operators' actions. Operators cause few events.
            models.Index("occurred_at", "id", condition=BY_OPERATORS, name="event_by_operators"),
            models.Index("actor", "occurred_at", "id", condition=BY_OPERATORS, name="event_by_operator"),
            # Operators search by the request_id that an integrator quotes.
            models.Index(folded("request_id"), condition=~Q(request_id=""), name="event_of_request_folded"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.order_id or self.import_id or ''}".strip()

    @property
    def named_values(self) -> list[tuple[str, object]]:
        """The names and values of `data`. In a template, `data.items` is the value of the key `items`."""
        return [*self.data.items()]

    @classmethod
    def publish(cls) -> int:
        """Number the committed events that have no number, and return their count.

        Events get no number inside the transaction of their change, because a transaction with a higher
        number could commit earlier. A reader would then skip the event with the lower number.
        """
        if not cls.objects.filter(number=None).exists():
            return 0
        numbered = batch = cls._number_batch()
        while batch == BATCH or (not numbered and notice()):  # more events wait, or a new epoch has begun
            batch = cls._number_batch()
            numbered += batch
        return numbered

    @classmethod
    def _number_batch(cls) -> int:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [NUMBERING_LOCK])
            cursor.execute(NUMBER, [BATCH])
            return int(cursor.rowcount)


class Epoch(models.Model):
    """An epoch of the database. A promotion or a restore begins the next epoch (`events.epochs`)."""

    name = models.CharField(max_length=32, unique=True, help_text="The name of the epoch in ETags.")
    incarnation = models.CharField(
        max_length=100,
        help_text="The system identifier, timeline and database of PostgreSQL.",
    )
    events_after = models.BigIntegerField(help_text="Events of this epoch have higher numbers.")
    began_at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=200)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.name}, {self.reason}"
