"""Summaries of an import for its admin page and lists."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import connection

from accounts.operating.operator_actions import details_paragraph
from imports.kinds import kind_of
from imports.models import LEFT_OUT, ImportJob, Status
from imports.serializers import progress

# A page counts at most this many rejects, because an import may have a million rejects.
LOOKED_AT = 10_000
SHOWN = 20
SHOWN_OTHERWISE = ("field_mapping", "rows", "remote", "as_of")
SAID_FIRST = ("source", "field", "subtype")


@dataclass(frozen=True)
class Progress:
    """The progress of a job; `percent` is None until the number of rows is known."""

    text: str
    percent: int | None
    moving: bool

    @classmethod
    def of(cls, job: ImportJob) -> Progress:
        moving = job.status in (Status.QUEUED, Status.RUNNING)
        if job.rows_total is None:
            unread = "Not started." if job.started_at is None else "The rows of the file were not counted."
            text = "The file is being read." if job.status == Status.RUNNING else unread
            return cls(text, None, moving)
        parts = [f"{job.rows_done:,} of {job.rows_total:,} rows"]
        rate, left = progress(job)
        if rate:
            parts.append(f"{rate:,} rows/s")
        if left is not None:
            parts.append(f"{duration(left)} left")
        return cls(", ".join(parts), 100 * job.rows_done // max(job.rows_total, 1), moving)

    @classmethod
    def brief(cls, job: ImportJob) -> str:
        """Return the progress for lists: rows and rejects, or the percentage of a running job."""
        if job.rows_total is None:
            return "–"
        _, left = progress(job)
        if left is None:
            return f"{job.rows_total:,}" + (f", {job.rejected:,} rejected" if job.rejected else "")
        return f"{cls.of(job).percent} % of {job.rows_total:,}, {duration(left)} left"


def duration(seconds: float) -> str:
    """Return seconds as text: 90 becomes `1 min 30 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@dataclass(frozen=True)
class RejectGroup:
    """The rejects of one field and code: their number, the first line and its message."""

    field: str
    code: str
    rows: int
    line: int
    message: str


REJECT_GROUPS = """
    SELECT field, code, count(*) AS rows, min(line), (array_agg(message ORDER BY line))[1]
    FROM (SELECT * FROM imports_reject WHERE job_id = %s ORDER BY line, id LIMIT %s) AS r
    GROUP BY field, code ORDER BY rows DESC, min(line) LIMIT %s
"""


def reject_groups(job: ImportJob) -> list[RejectGroup]:
    """Return the groups among the first LOOKED_AT rejects, largest first."""
    with connection.cursor() as cursor:
        cursor.execute(REJECT_GROUPS, [job.pk, LOOKED_AT, SHOWN])
        return [RejectGroup(*row) for row in cursor.fetchall()]


def option_texts(job: ImportJob) -> list[tuple[str, str]]:
    """Return the job's options as pairs of a name and a text, without empty options."""
    options = dict(job.options)
    if left_out := options.get(LEFT_OUT):
        names = changed_warehouses(job)
        options[LEFT_OUT] = ", ".join(str(names.get(warehouse, warehouse)) for warehouse in left_out)
    return texts_of(options)


def changed_warehouses(job: ImportJob) -> dict[int, str]:
    """Return the names of the warehouses whose stock a file that waited for approval changes, by id."""
    changed = job.report.get("outlook", {}).get("warehouses", ())
    return {each["warehouse_id"]: each["warehouse"] for each in changed if "warehouse_id" in each}


def newer_values(job: ImportJob) -> str:
    """Warn that a repeated job replaces values of later files. Return an empty text if it replaces none."""
    if job.dry_run or kind_of(job.kind).importer.keeps_newer:
        return ""
    same = ImportJob.objects.of_a_kind_with(job).filter(pk__gt=job.pk, dry_run=False)
    later = same.filter(status__in=(Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS)).order_by("-pk").first()
    if later is None:
        return ""
    return details_paragraph(
        f"Import {later.pk} came later. Where both files name a product, the older values of this file "
        "replace the newer values. To keep the newer values, import the later file again afterwards."
    )


def texts_of(said: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the options of an import, an automatic import or a saved mapping as pairs of name and text."""
    options = {name: value for name, value in said.items() if name not in SHOWN_OTHERWISE}
    options["columns"] = "\n".join(map(_entry_text, said.get("field_mapping", [])))
    options["left_out"] = ", ".join(said.get("left_out", []))
    options["rows"] = "\n".join(_row_text(name, value) for name, value in said.get("rows", {}).items())
    return [
        (name.replace("_", " "), str(value)) for name, value in options.items() if value not in (None, "")
    ]


def _entry_text(entry: dict[str, object]) -> str:
    more = [_more_text(name, value) for name, value in entry.items() if name not in SAID_FIRST and value]
    subtype = f".{entry['subtype']}" if entry.get("subtype") else ""
    return f"{entry['source']} → {entry['field']}{subtype}" + (f" ({', '.join(more)})" if more else "")


def _more_text(name: str, value: object) -> str:
    if name == "optional":
        return "if present"
    if isinstance(value, dict):
        return ", ".join(f"{cell} = {meaning}" for cell, meaning in value.items())
    return f"named by {value}" if name in ("name_field", "name_separator") else f"{value}"


def _row_text(name: str, value: object) -> str:
    if isinstance(value, dict):
        value = f"{value['field']} is {' or '.join(map(repr, value['values']))}"
    return f"{name.replace('_', ' ')}: {', '.join(value) if isinstance(value, list) else value}"


def counts(job: ImportJob) -> list[tuple[str, str]]:
    """Return the number of rows by result. For a dry run, these are the predicted results."""
    numbers = {
        name: getattr(job, name) for name in ("created", "updated", "unchanged", "rejected", "duplicates")
    }
    numbers |= {name: job.report[name] for name in ("zeroed", "kept_newer", "delisted") if name in job.report}
    return [(name.replace("_", " "), f"{number:,}") for name, number in numbers.items()]


def warnings_of(job: ImportJob) -> list[str]:
    """Return the warnings of an import. The last warning names the columns that the import ignored."""
    ignored = ", ".join(job.ignored_columns)
    return [*job.warnings, *([f"Ignored columns: {ignored}."] if ignored else [])]


def with_percents(outlook: dict[str, Any] | None) -> dict[str, object]:
    """Return the expected changes of a waiting file, and add the difference in percent to each change."""
    outlook = outlook or {}
    pairs = {
        "warehouses": ("before", "after"),
        "stock_changes": ("from", "to"),
        "price_changes": ("from", "to"),
    }
    changed = {
        name: [{**each, "percent": percent_of(each[old], each[new])} for each in outlook[name]]
        for name, (old, new) in pairs.items()
        if name in outlook
    }
    return {**outlook, **changed}


def percent_of(old: object, new: object) -> str:
    """Return a change as `+50 %`, and a change from nothing as `new`."""
    before, after = Decimal(str(old)), Decimal(str(new))
    if not before:
        return "new" if after else "0 %"
    percent = round(100 * (after - before) / before, 1)
    return f"{percent.normalize():+f} %" if percent else "0 %"
