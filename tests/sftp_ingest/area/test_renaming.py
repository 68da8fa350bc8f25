"""A rename that brings files into an import folder counts as an upload of each of them."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.utils import timezone

from imports.models import ImportJob
from imports.sweeping import take_uploads
from sftp_ingest.models import Blob, Upload
from tests.factories import AutoImportFactory

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"fulfillment_id,action\n1,ship\n"


def uploaded() -> list[str]:
    return [upload.path for upload in Upload.objects.order_by("pk")]


def test_a_file_from_another_import_folder_is_imported(acme_sftp):
    acme_sftp.putfo(io.BytesIO(CSV), "products/a.csv")
    acme_sftp.rename("products/a.csv", "tracking/a.csv")

    assert uploaded() == ["products/a.csv", "tracking/a.csv"]
    take_uploads()
    assert ImportJob.objects.get().source == "tracking/a.csv"


def test_the_files_of_a_folder_are_imported(acme_sftp):
    acme_sftp.mkdir("staging")
    acme_sftp.mkdir("staging/inner")
    for path in ("a.csv", "inner/b.csv", "notes.md"):
        acme_sftp.putfo(io.BytesIO(CSV), f"staging/{path}")
    acme_sftp.rename("staging", "tracking/batch")

    assert sorted(uploaded()[3:]) == ["tracking/batch/a.csv", "tracking/batch/inner/b.csv"]
    assert take_uploads() == 2


def test_a_move_within_an_import_folder_is_no_new_upload(acme_sftp):
    acme_sftp.mkdir("tracking/new")
    acme_sftp.putfo(io.BytesIO(CSV), "tracking/new/a.csv")
    acme_sftp.rename("tracking/new/a.csv", "tracking/new/b.csv")
    acme_sftp.rename("tracking/new", "tracking/done")
    acme_sftp.rename("tracking/done", "done")

    assert uploaded() == ["tracking/new/a.csv"]


@pytest.mark.parametrize("then", ["rename", "remove"])
def test_a_file_that_leaves_before_the_next_sweep_is_imported(acme_sftp, then):
    acme_sftp.putfo(io.BytesIO(CSV), "tracking/a.csv")
    if then == "rename":
        acme_sftp.mkdir("sent")
        acme_sftp.rename("tracking/a.csv", "sent/a.csv")
    else:
        acme_sftp.remove("tracking/a.csv")

    assert take_uploads() == 1
    job = ImportJob.objects.get()
    assert job.blob is not None
    assert (job.status, job.blob.size) == ("queued", len(CSV))


def test_a_renamed_stock_file_keeps_the_moment_of_its_own_upload(acme, acme_sftp):
    warehouse = acme.warehouses.first()
    AutoImportFactory.create(supplier=acme, kind="inventory", options={"warehouse_id": warehouse.pk})
    acme_sftp.putfo(io.BytesIO(b"sku,quantity\nA-1,5\n"), "inventory/stock.csv.part")
    monday = timezone.now() - timedelta(days=4)
    Blob.objects.update(completed_at=monday)
    acme_sftp.rename("inventory/stock.csv.part", "inventory/stock.csv")

    assert take_uploads() == 1
    assert ImportJob.objects.get().as_of == monday


def test_a_renamed_file_replaces_a_cut_upload_with_its_new_name(acme_sftp, leave_cut):
    leave_cut("products/a.csv", CSV[:10])
    acme_sftp.putfo(io.BytesIO(CSV), "products/a.csv.part")
    acme_sftp.posix_rename("products/a.csv.part", "products/a.csv")

    assert acme_sftp.stat("products/a.csv").st_size == len(CSV)
