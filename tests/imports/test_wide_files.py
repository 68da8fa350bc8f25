"""Files with many columns land, or the job fails with a clear reason."""

from __future__ import annotations

import pytest
from django.db import InterfaceError, OperationalError
from psycopg import errors

from catalog.models import Variant
from imports.models import ImportJob
from imports.pipeline import batches
from imports.pipeline.errors import is_temporary
from imports.pipeline.job_runner import run_job


def wide_file(columns: int) -> str:
    """Return a file with this many columns and a line break in the title of the first row."""
    header = ["sku", "title", "retail_price", *(f"c{index}" for index in range(columns - 3))]
    empty = "," * (columns - 3)
    return f'{",".join(header)}\nA-1,"T-shirt\nred",5{empty}\nA-2,Hat,x{empty}\n'


@pytest.mark.parametrize("columns", [99, 100, 101, 330, 500])
def test_a_wide_file_with_a_line_break_in_a_cell_lands(acme, upload, ran, columns):
    job = ran(acme, file_url=upload(acme, wide_file(columns)))

    assert (job["status"], job["created"]) == ("succeeded_with_errors", 1), job["error"]
    assert Variant.objects.get(supplier=acme).title == "T-shirt\nred"
    assert job["errors"][0]["line"] == 4


@pytest.mark.parametrize("columns", [501, 1600, 1700])
def test_a_wider_file_is_refused_in_words(acme, upload, ran, columns):
    job = ran(acme, file_url=upload(acme, wide_file(columns)))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_many_columns")
    assert f"{columns} columns" in job["error"]["message"]


@pytest.mark.parametrize(("field", "shown"), [("images", "https://example.com/1.jpg"), ("property", None)])
def test_a_field_is_filled_from_more_than_a_hundred_columns(acme, upload, ran, field, shown):
    names = [f"p{index}" for index in range(120)]
    cells = [f"https://example.com/{index}.jpg" for index in range(120)]
    content = f"sku,title,retail_price,{','.join(names)}\nA-1,Shirt,5,{','.join(cells)}\n"

    job = ran(
        acme,
        file_url=upload(acme, content),
        field_mapping=[{"source_field": name, "destination_field": field} for name in names],
    )

    assert (job["status"], job["created"]) == ("succeeded", 1), job["error"]
    variant = Variant.objects.get(supplier=acme)
    assert shown is None or shown in variant.images


def caused_by(cause: Exception | None, kind: type[Exception] = OperationalError) -> Exception:
    error = kind(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "temporary"),
    [
        (caused_by(None), True),
        (caused_by(None, InterfaceError), True),
        (caused_by(errors.AdminShutdown()), True),
        (caused_by(errors.ConnectionFailure()), True),
        (caused_by(errors.DeadlockDetected()), True),
        (caused_by(errors.LockNotAvailable()), True),
        (caused_by(errors.TooManyConnections()), True),
        (caused_by(errors.TooManyArguments()), False),
        (caused_by(errors.StatementTooComplex()), False),
        (caused_by(errors.TooManyColumns()), False),
        (ValueError(), False),
    ],
)
def test_only_a_database_that_is_away_or_busy_is_tried_again(error, temporary):
    assert is_temporary(error) is temporary


def test_a_statement_that_postgresql_refuses_fails_the_job_at_once(acme, client_for, monkeypatch):
    def refused(*args: object) -> None:
        raise caused_by(errors.TooManyArguments())

    client = client_for(acme)
    data = ["sku,title,retail_price", "A-1,Shirt,5"]
    job = ImportJob.objects.get(pk=client.post("importProducts", {"data": data}).json()["id"])
    monkeypatch.setattr(batches, "land_range", refused)

    run_job(job.pk)

    job.refresh_from_db()
    assert job.error is not None
    assert (job.status, job.error["code"], job.attempts) == ("failed", "internal_error", 1)
