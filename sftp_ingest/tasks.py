"""Celery only wakes: what there is to do is in the tables."""

from __future__ import annotations

from celery import shared_task

from sftp_ingest.area import contents, cut_uploads, orphans


@shared_task(name="sftp_ingest.tasks.collect")  # type: ignore[untyped-decorator]
def collect() -> None:
    """Forget uploads that were cut too long ago, and delete what nothing refers to any more."""
    cut_uploads.remove_old()
    contents.collect()
    orphans.collect()
