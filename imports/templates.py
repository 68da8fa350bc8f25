"""The templates that suppliers fill in: three lines; the supplier deletes the second and third."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping
from functools import partial

from imports.kinds import all_kinds, kind_of
from imports.made_sheets import as_xlsx
from imports.pipeline.template_lines import MANDATORY, OPTIONAL
from sftp_ingest.area.made_files import MadeFile, MadeFolder
from sftp_ingest.area.paths import TEMPLATES

# The modification time of all templates. It stays the same while the process runs. A client that compares
# times therefore does not download the templates again.
STARTED = time.time()


def template(kind: str) -> str:
    """Return the template of a kind as CSV.

    Line 1 has the columns, line 2 has `mandatory` or `optional` for each column, and line 3 is an example.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows(_lines(kind))
    return text.getvalue()


def workbook(kind: str) -> bytes:
    """Return a workbook with the three lines of the CSV template."""
    columns, *lines = _lines(kind)
    return as_xlsx(columns, [dict(zip(columns, line, strict=True)) for line in lines])


def _lines(kind: str) -> list[list[str]]:
    columns = kind_of(kind).importer.template()
    return [
        [column.name for column in columns],
        [MANDATORY if column.required else OPTIONAL for column in columns],
        [column.example for column in columns],
    ]


class TemplatesFolder(MadeFolder):
    """The folder `templates/` of every upload area."""

    name = TEMPLATES

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        return {
            f"{kind.folder}.{ending}": partial(_file, make, kind.name)
            for kind in all_kinds()
            for ending, make in (("csv", _csv), ("xlsx", workbook))
        }


def _csv(kind: str) -> bytes:
    return template(kind).encode()


def _file(make: Callable[[str], bytes], kind: str) -> MadeFile:
    return MadeFile(make(kind), modified=STARTED)
