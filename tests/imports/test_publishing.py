"""The files in `reports/` of the upload area, for suppliers without the API."""

from __future__ import annotations

import codecs
import time

import pytest
from django.core.cache import cache

from catalog.models import Variant
from imports import publishing, sweeping
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from sftp_ingest.area import quota
from sftp_ingest.area.files import Area, changeable
from sftp_ingest.errors import NotAllowed
from tests.factories import AutoImportFactory, ImportJobFactory, UploadFactory
from tests.upload_area import area_of

BAD = "sku,title,retail_price\nA-1,Shirt,1\nA-2,,2\n"


@pytest.fixture(autouse=True)
def _no_memory_of_other_tests():
    cache.clear()


@pytest.fixture
def put(acme, client_for, upload):
    """Return a function that uploads a file, and runs its automatic import to the end, as the sweep does."""
    client_for(acme).put("autoImports/products", {})

    def go(content, path="products/spring.csv"):
        upload(acme, content, path)
        UploadFactory.create(supplier=acme, path=path, size=len(content))
        assert sweeping.take_uploads() == 1
        job = ImportJob.objects.latest("pk")
        run_job(job.pk)
        sweeping.publish_reports()
        job.refresh_from_db()
        return job

    return go


def reports(supplier):
    folder = area_of(supplier) / "reports"
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}


def test_an_upload_gets_a_report_whose_corrected_rejects_land(acme, client_for, put):
    job = put(BAD)

    found = reports(acme)
    assert set(found) == {f"spring.import-{job.pk}.txt", f"spring.import-{job.pk}.errors.csv"}
    summary = found[f"spring.import-{job.pk}.txt"]
    assert summary.startswith(f"Import {job.pk} of products/spring.csv: succeeded_with_errors")
    assert "Rows 2: created 1, updated 0, unchanged 0, rejected 1, duplicates 0." in summary
    rejected = found[f"spring.import-{job.pk}.errors.csv"]
    served = client_for(acme).get(f"imports/{job.pk}/errors")
    # Without a byte order mark, Excel would assume another encoding, and save the file in it.
    marked = codecs.BOM_UTF8 + b"".join(served.streaming_content)
    assert rejected.encode().splitlines() == marked.splitlines()

    again = put(rejected.replace("A-2,,2", "A-2,Hat,2"), "products/corrected.csv")

    assert (again.status, again.created) == (Status.SUCCEEDED, 1)
    assert sorted(Variant.objects.values_list("sku", flat=True)) == ["A-1", "A-2"]
    assert f"corrected.import-{again.pk}.errors.csv" not in reports(acme)


def test_a_file_that_cannot_be_read_is_answered_with_the_reason(acme, put):
    job = put("sku,sku\nA,B\n")

    assert job.status == Status.FAILED
    assert job.error["message"] in reports(acme)[f"spring.import-{job.pk}.txt"]


def test_a_held_file_gets_a_report_with_the_forecast_and_another_after_landing(
    acme, a_variant, client_for, put
):
    client_for(acme).put("importPolicy", {"price_factor": 2})
    a_variant(acme, "A-1", title="Shirt", retail_price="1")
    job = put("sku,retail_price\nA-1,9\n")
    name = f"spring.import-{job.pk}.txt"
    assert (
        "waits for your approval. The file would change retail_price of 1 variant by more"
        in reports(acme)[name]
    )

    client_for(acme).post(f"imports/{job.pk}/approve")
    run_job(job.pk)
    cache.clear()
    assert sweeping.publish_reports() == 1
    assert reports(acme)[name].startswith(f"Import {job.pk} of products/spring.csv: succeeded\n")


def test_an_automatic_import_that_cannot_start_is_a_failed_job(acme, rival, client_for, upload):
    warehouse = client_for(rival).get("warehouses").json()[0]["id"]
    options = {"id_field": "sku", "amount_field": "quantity", "id_type": "sku", "mode": "delta"}
    AutoImportFactory.create(supplier=acme, kind="inventory", options={**options, "warehouse_id": warehouse})
    path = upload(acme, "sku,quantity\nA,1\n", "inventory/stock.csv")
    UploadFactory.create(supplier=acme, path=path)

    assert sweeping.take_uploads() == 0
    sweeping.publish_reports()

    [job] = client_for(acme).get("imports").json()["results"]
    assert (job["status"], job["source"]) == ("failed", path)
    assert "You have no warehouse" in job["error"]["message"]
    assert "You have no warehouse" in reports(acme)[f"stock.import-{job['id']}.txt"]
    assert client_for(acme).post(f"imports/{job['id']}/retry").status_code == 409


def test_lines_in_a_request_need_no_report_in_the_area(acme, ran):
    ran(acme, data=BAD.splitlines())

    assert sweeping.publish_reports() == 1
    assert reports(acme) == {}
    assert sweeping.publish_reports() == 0


def test_a_report_that_cannot_be_written_harms_nothing(acme, upload, ran):
    (area_of(acme) / "reports").write_text("a supplier's own file, from before there were reports")
    job = ran(acme, file_url=upload(acme, BAD))

    assert sweeping.publish_reports() == 1

    assert ImportJob.objects.get(pk=job["id"]).reported_at
    assert sweeping.publish_reports() == 0


def test_reports_are_read_only_and_do_not_count_against_the_quota(acme, put):
    area = Area(acme.pk)
    put(BAD)
    used = quota.used(acme.pk)

    for parts in (("reports",), ("reports", "mine.csv")):
        with pytest.raises(NotAllowed, match="read-only"):
            changeable(parts)
    assert used == (area_of(acme) / "products/spring.csv").stat().st_size
    assert area.recalculate() == 0


def test_old_reports_are_removed(acme, rival, put):
    put(BAD)
    fresh, *old = (area_of(acme) / "reports").iterdir()
    for path in old:
        before = int(time.time() - publishing.KEPT.total_seconds() - 60)
        Area(acme.pk).set_times(path.parts, 1, before)

    sweeping.tidy()

    assert list(reports(acme)) == [fresh.name]


def test_a_long_name_is_shortened_to_a_valid_file_name(acme):
    job = ImportJobFactory.build(pk=7, supplier=acme, source=f"products/{'ä' * 120}.csv")
    name = f"{publishing.name_of(job)}.errors.csv"
    assert len(name.encode()) <= 255
    assert name.endswith(".import-7.errors.csv")


def test_a_dry_run_that_would_need_approval_reports_it(acme, a_variant, client_for, stocked):
    a_variant(acme, "A-1", stock=5)
    client_for(acme).put("importPolicy", {"zeroed_least": 0, "zeroed_in_delta": True})
    job = ImportJob.objects.get(pk=stocked(acme, "sku,quantity\nA-1,0\n", dry_run=True)["id"])

    reason = "The file would set 1 of 1 stocked variants to 0."
    assert f"The import would wait for approval. {reason}" in publishing.summary(job)
