"""What a digest says: plain text, the most urgent first, with a link for each row."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Supplier
from backoffice.desk.gathering import WINDOW, Wanted, gather
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.models import ImportJob, Status

ROWS = 20
MOST_COUNTED = 1_000
LATELY = timedelta(days=1)


def for_operator(user: User) -> tuple[str, str]:
    """Subject and text of what waits on the desk; both empty where nothing does."""
    gathered = gather(user, Wanted(person=user.get_username()), ROWS)
    if not gathered.items:
        return "", ""
    lines = [
        f"  {f'{WINDOW}+' if count > WINDOW else count} {kind.title}"
        for kind, count in gathered.counts
        if count > 0
    ]
    lines += ["", "The most urgent:", ""]
    for item in gathered.items:
        due = f", due {item.due_at:%-d %b %H:%M} UTC" if item.due_at else ""
        lines += [f"- {item.kind.title}: {item.title} ({item.parties}){due}", f"  {item.what}"]
        lines += [f"  {settings.BASE_URL}{item.url}"]
    lines += ["", f"All of it: {settings.BASE_URL}/admin/desk/"]
    return f"{gathered.total} waiting on the desk", "\n".join(["Waiting on the desk:", "", *lines, ""])


def for_supplier(supplier: Supplier) -> tuple[str, str]:
    """Subject and text of what a supplier has to do; both empty where that is nothing."""
    found = [*_work(supplier), *_files(supplier)]
    if not found:
        return "", ""
    text = [f"Hello {supplier},", "", "this waits for you:", "", *(f"- {each}" for each in found)]
    return f"{supplier}: what waits for you", "\n".join([*text, ""])


def _work(supplier: Supplier) -> Iterator[str]:
    own = Fulfillment.objects.for_supplier(supplier).not_held().order_by()
    captured = own.filter(capture__isnull=False)
    to_do = (
        (own.filter(state=State.NEW, capture=None), "to capture"),
        (captured.filter(state__in=[State.NEW, State.CANCELATION_NOT_ALLOWED]), "to accept"),
        (own.filter(state=State.ACCEPTED), "to ship"),
        (own.filter(state=State.CANCELING), "with a cancellation to answer"),
        (own & Fulfillment.objects.overdue().order_by(), "overdue"),
    )
    for rows, what in to_do:
        if count := _counted(rows):
            yield f"{count} fulfillments {what}"


def _files(supplier: Supplier) -> Iterator[str]:
    failed = ImportJob.objects.filter(supplier=supplier, status=Status.FAILED)
    for job in failed.filter(created_at__gte=timezone.now() - LATELY).order_by("-id")[:5]:
        said = job.error["message"] if job.error else "it could not be read."
        yield f"import {job.pk} of {job.source or 'data'} failed: {said}"


def _counted(rows: QuerySet[Fulfillment]) -> str:
    count = rows[: MOST_COUNTED + 1].count()
    return f"more than {MOST_COUNTED}" if count > MOST_COUNTED else str(count or "")
