"""The files and the stock of a supplier that need work: failed imports and old counts."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from accounts.models import Supplier
from catalog.models import Variant
from fulfillments.scorecard.selectors import last_feed
from imports.admin_filters import RECENT
from imports.models import ImportJob, Status
from portal.buckets import MOST_COUNTED, WorkBucket

STALE = timedelta(days=1)
"""The age of a stock count after which its supplier is reminded."""


def failed_files(supplier: Supplier) -> list[int]:
    """Return the ids of imports that failed this week and that no later file of their kind replaced.

    The second query starts at the oldest failed import: PostgreSQL would otherwise read all imports.
    """
    failed = ImportJob.objects.for_supplier(supplier).filter(
        status=Status.FAILED, dry_run=False, created_at__gte=timezone.now() - RECENT
    )
    kinds = dict(failed.order_by("pk").values_list("pk", "kind")[: MOST_COUNTED + 1])
    later = ImportJob.objects.for_supplier(supplier).filter(
        kind__in={*kinds.values()},
        pk__gt=min(kinds, default=0),
        status__in=(Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS),
        dry_run=False,
    )
    newest = dict(later.order_by().values_list("kind").annotate(newest=Max("pk")))
    return [pk for pk, kind in kinds.items() if pk > newest.get(kind, 0)]


def files_bucket(supplier: Supplier) -> WorkBucket:
    url = f"{reverse('portal:files')}?tab=failed"
    return WorkBucket("Failed files", failed_files(supplier), url, "See failed files", color="bad")


def stock_bucket(supplier: Supplier) -> WorkBucket:
    """Return the bucket of all listed products, or an empty bucket if a count came within the last day."""
    counted = last_feed(supplier)
    ids = [*_listed(supplier)] if is_stale(counted) else []
    note = "never counted" if counted is None else f"counted {_age(counted)}"
    return WorkBucket(
        "Stock not updated", ids, reverse("portal:stock"), "Update stock", color="warn", note=note
    )


def _age(moment: datetime) -> str:
    if timezone.now() - moment < timedelta(minutes=1):
        return "just now"
    return f"{timesince(moment, depth=1)} ago"


def is_stale(counted: datetime | None) -> bool:
    return counted is None or counted <= timezone.now() - STALE


def _listed(supplier: Supplier) -> list[int]:
    listed = Variant.objects.for_supplier(supplier).filter(listed=True)
    return [*listed.order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]]
