"""The templates that suppliers fill in: three lines, of which the second and third are to be deleted."""

from __future__ import annotations

import csv
import io
import logging
import os
from contextlib import suppress

from accounts.models import Supplier
from imports.models import Kind
from imports.pipeline.importer import importer_of
from imports.pipeline.template_lines import MANDATORY, OPTIONAL
from sftp_ingest.area.files import area_of
from sftp_ingest.area.paths import TEMPLATES

logger = logging.getLogger(__name__)


def template(kind: str) -> str:
    """Line 1 the columns, line 2 mandatory or optional, line 3 an example."""
    columns = importer_of(kind).template()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in columns])
    writer.writerow([MANDATORY if column.required else OPTIONAL for column in columns])
    writer.writerow([column.example for column in columns])
    return text.getvalue()


def publish(supplier: Supplier) -> None:
    """Put the templates into a supplier's upload area."""
    folder = area_of(supplier) / TEMPLATES
    for kind in Kind:
        text = template(kind).encode()
        path = folder / f"{kind.folder}.csv"
        with suppress(OSError):
            if path.read_bytes() == text:
                continue
        temporary = folder / f".{kind}.{os.getpid()}"
        try:
            temporary.write_bytes(text)
            temporary.replace(path)
        except OSError:
            logger.exception("the template %s could not be published", path)
