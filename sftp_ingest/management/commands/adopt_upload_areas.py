"""`manage.py adopt_upload_areas`: migrate upload areas that were folders on disk."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from sftp_ingest.area.adopting import adopt_all


class Command(BaseCommand):
    help = (
        "Migrate upload areas of old versions: each file of UPLOADS_DIR/<supplier> becomes a row and a "
        "blob. Calculate the used bytes of each area again. The command can be repeated."
    )

    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(f"{adopt_all()} files were migrated.")
