"""Suppliers whose stock feed is silent: they have sent no count for some days."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.models import Partnership, Supplier
from events.models import BY_OPERATORS, OPERATORS, Event
from imports.models import ImportJob, Status
from inventory.importing.kind import INVENTORY
from inventory.models import Warehouse

STALE = timedelta(days=2)


def stale_feeds() -> QuerySet[Any]:
    """Return trading suppliers whose last count by push or file is older than STALE.

    Counts without a change of stock are included. Counts by operators are not: the feed may be broken while
    an operator corrects stock by hand.
    """
    pushed = Event.objects.filter(supplier=OuterRef("pk"), type="inventory.updated", number__isnull=False)
    pushed = pushed.exclude(BY_OPERATORS)
    landed = ImportJob.objects.filter(supplier=OuterRef("pk"), kind=INVENTORY.name, dry_run=False)
    landed = landed.exclude(created_by__startswith=OPERATORS)
    landed = landed.filter(status__in=[Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS])
    partners = Partnership.objects.trading().values("supplier_id")
    suppliers = Supplier.objects.filter(pk__in=partners).annotate(
        pushed_at=Subquery(pushed.order_by("-number").values("occurred_at")[:1]),
        landed_at=Subquery(landed.order_by("-id").values("finished_at")[:1]),
    )
    counted = Warehouse.objects.filter(supplier=OuterRef("pk")).order_by().values("supplier")
    suppliers = suppliers.annotate(counted_at=Subquery(counted.annotate(last=Max("heard_at")).values("last")))
    suppliers = suppliers.annotate(heard_at=Greatest(F("pushed_at"), F("landed_at"), F("counted_at")))
    return suppliers.filter(heard_at__lt=timezone.now() - STALE)
