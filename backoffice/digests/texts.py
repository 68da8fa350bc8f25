"""Subjects and texts of digests: plain text, most urgent rows first, with links."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.template.defaultfilters import pluralize
from django.utils import timezone

from accounts.models import Supplier
from backoffice.desk.gathering import WINDOW, DeskFilter, gather
from backoffice.desk.kinds import kinds_for
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.models import ImportJob, Status

ROWS = 20
MOST_COUNTED = 1_000
LATELY = timedelta(days=1)


def for_operator(user: User) -> tuple[str, str]:
    """Return subject and text of an operator's digest, both empty if nothing waits."""
    gathered = gather(kinds_for(user), DeskFilter(person=user.get_username()), ROWS)
    if not gathered.items:
        return "", ""
    lines = [
        f"  {f'{WINDOW}+' if count > WINDOW else count} {kind.title}"
        for kind, count in gathered.counts
        if count > 0
    ]
    lines += ["", "Most urgent:", ""]
    for item in gathered.items:
        due = f", due {item.due_at:%-d %b, %H:%M} UTC" if item.due_at else ""
        lines += [f"- {item.kind.title}: {item.title} ({item.parties}){due}", f"  {item.problem}"]
        lines += [f"  {settings.BASE_URL}{item.url}"]
    lines += ["", f"All open work: {settings.BASE_URL}/admin/desk/"]
    return f"{gathered.total} waiting on the desk", "\n".join(["Open work on the desk:", "", *lines, ""])


def for_supplier(supplier: Supplier) -> tuple[str, str]:
    """Return subject and text of a supplier's digest, both empty if nothing waits."""
    rows = [*_work(supplier), *_files(supplier)]
    if not rows:
        return "", ""
    text = [f"Hello {supplier},", "", "This work is open:", "", *(f"- {row}" for row in rows)]
    return f"{supplier}: your open work", "\n".join([*text, ""])


def _work(supplier: Supplier) -> Iterator[str]:
    work = Fulfillment.objects.for_supplier(supplier).not_held().order_by()
    captured = work.filter(capture__isnull=False)
    to_do = (
        (work.filter(state=State.NEW, capture=None), "to capture"),
        (captured.filter(state__in=[State.NEW, State.CANCELATION_NOT_ALLOWED]), "to accept"),
        (work.filter(state=State.ACCEPTED), "to ship"),
        (work.filter(state=State.CANCELING), "with a cancellation to answer"),
        (work & Fulfillment.objects.overdue().order_by(), "overdue"),
    )
    for rows, task in to_do:
        if count := _counted(rows):
            yield f"{count} fulfillment{pluralize(count)} {task}"


def _files(supplier: Supplier) -> Iterator[str]:
    failed = ImportJob.objects.filter(supplier=supplier, status=Status.FAILED)
    for job in failed.filter(finished_at__gte=timezone.now() - LATELY).order_by("-id")[:5]:
        message = job.error["message"] if job.error else "it could not be read."
        yield f"import {job.pk} of {job.source or 'data'} failed: {message}"


def _counted(rows: QuerySet[Fulfillment]) -> str:
    count = rows[: MOST_COUNTED + 1].count()
    return f"more than {MOST_COUNTED}" if count > MOST_COUNTED else str(count or "")
