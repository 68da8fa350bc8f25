"""The text that the page proposes for a message about a failed file."""

from __future__ import annotations

import pytest

from imports.messages import proposed_text
from imports.models import ImportJob
from imports.pipeline import batches

ROWS = ["sku,title,retail_price", *(f"A-{number},Lamp,1" for number in range(4))]


def test_a_file_that_failed_at_its_first_row_imported_no_row(acme, ran, job_of):
    job = job_of(ran(acme, data=["nothing,known", "1,2"]))

    assert "we could not read the products that you sent, so no row was imported." in proposed_text(job)


@pytest.mark.django_db
def test_a_file_that_failed_half_way_names_the_imported_rows(acme, ran, job_of, monkeypatch):
    def land(*arguments):
        if ImportJob.objects.get().created:
            raise ValueError
        return land_range(*arguments)

    land_range = batches.land_range
    monkeypatch.setattr(batches, "STEP", 2)
    monkeypatch.setattr(batches, "land_range", land)

    job = job_of(ran(acme, data=ROWS))

    assert (job.status, job.created) == ("failed", 1)
    text = proposed_text(job)
    assert (
        "the import of the products that you sent stopped after 1 of 4 rows. The imported rows stay." in text
    )
    assert "no row was imported" not in text
