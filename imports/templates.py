"""The templates that suppliers fill in: three lines; the supplier deletes the second and third."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping
from functools import partial

from imports.models import Kind
from imports.pipeline.importer import importer_of
from imports.pipeline.template_lines import MANDATORY, OPTIONAL
from sftp_ingest.area.made_files import MadeFile, MadeFolder
from sftp_ingest.area.paths import TEMPLATES

STARTED = time.time()  # fixed, so that clients which compare times do not read them again


def template(kind: str) -> str:
    """Return line 1 with the columns, line 2 with mandatory or optional, line 3 with an example."""
    columns = importer_of(kind).template()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in columns])
    writer.writerow([MANDATORY if column.required else OPTIONAL for column in columns])
    writer.writerow([column.example for column in columns])
    return text.getvalue()


class TemplatesFolder(MadeFolder):
    """The folder `templates/` of every upload area."""

    name = TEMPLATES

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        return {f"{kind.folder}.csv": partial(_file, kind) for kind in Kind}


def _file(kind: Kind) -> MadeFile:
    return MadeFile(template(kind).encode(), modified=STARTED)
