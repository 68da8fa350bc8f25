"""`manage.py adopt_upload_areas`: take over the upload areas that were folders of the disk."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from sftp_ingest.area.adopting import adopt_all


class Command(BaseCommand):
    help = (
        "Takes over upload areas from before names were rows: each file of UPLOADS_DIR/<supplier> becomes a "
        "row and a blob. Also counts anew how full each area is. May be run again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{adopt_all()} files were taken over.")
