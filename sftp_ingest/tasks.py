"""Celery tasks. The work itself is listed in the tables; a task only starts it."""

from __future__ import annotations

from celery import shared_task

from sftp_ingest.area import contents, cut_uploads, orphans


@shared_task(name="sftp_ingest.tasks.collect")  # type: ignore[untyped-decorator]
def collect() -> None:
    """Delete uploads that were cut more than a day ago, and content without references."""
    cut_uploads.remove_old()
    contents.collect()
    orphans.collect()
