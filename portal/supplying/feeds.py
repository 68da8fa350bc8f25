"""The files and the stock of a supplier that need work: failed or held imports, and old counts."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
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
_LANDED = ImportJob.objects.filter(
    supplier=OuterRef("supplier"),
    kind=OuterRef("kind"),
    status__in=(Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS),
    dry_run=False,
)
# One row of the index of a supplier's kinds: `Exists` made PostgreSQL read all imports of the supplier.
_NEWEST_LANDED = Coalesce(Subquery(_LANDED.order_by("-pk").values("pk")[:1]), 0)


def failed_files() -> Q:
    """Make the condition of imports that failed this week and that no later file of their kind replaced."""
    recent = Q(status=Status.FAILED, dry_run=False, created_at__gte=timezone.now() - RECENT)
    return recent & Q(pk__gt=_NEWEST_LANDED)


def files_bucket(supplier: Supplier) -> WorkBucket:
    failed = ImportJob.objects.for_supplier(supplier).filter(failed_files())
    ids = [*failed.order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]]
    url = f"{reverse('portal:files')}?tab=failed"
    return WorkBucket("Failed files", ids, url, "See failed files", color="bad")


def stock_bucket(supplier: Supplier) -> WorkBucket:
    """Return the listed products, if no count by push, file or page has come for a day."""
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
