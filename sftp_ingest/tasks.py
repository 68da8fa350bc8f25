"""The Celery task that deletes unused content. A missed call only delays the deletion."""

from __future__ import annotations

import time

from celery import shared_task

from sftp_ingest.area import contents, cut_uploads, orphans

MOST_SECONDS = 30.0  # the task runs each minute


@shared_task(name="sftp_ingest.tasks.collect")  # type: ignore[untyped-decorator]
def collect() -> None:
    """Delete uploads that were cut more than a day ago, and blobs and content without references."""
    cut_uploads.remove_old()
    end = time.monotonic() + MOST_SECONDS
    while contents.collect() == contents.AT_ONCE and time.monotonic() < end:
        pass
    orphans.collect()
