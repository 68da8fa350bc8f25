"""A supplier's clerk uploads files, tries them first, and corrects rejected rows on the page."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.models import Variant
from imports.drafts.first_rows import read_draft
from imports.made_sheets import as_xlsx
from imports.models import ImportDraft, ImportJob, Status
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel
from tests.factories import MemberFactory, SavedMappingFactory
from tests.portal.conftest import act, browser_of, said

pytestmark = pytest.mark.django_db(transaction=True)

PRODUCTS = b"sku,title,retail_price\nA-1,Lantern,39.90\nA-2,Kettle,ask us\n"


def upload(client, content, kind="products", name="list.csv"):
    """Upload a file, and return the page that follows."""
    return client.post(
        "/portal/files/", {"kind": kind, "file": SimpleUploadedFile(name, content)}, follow=True
    )


def try_file(client, draft, **mapping):
    """Start the trial of a file, run it, and return its job."""
    client.post(f"/portal/files/drafts/{draft.pk}/", {"do": "try", **mapping})
    job = ImportJob.objects.latest("pk")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_a_file_is_tried_then_imported_then_its_rejected_row_is_corrected(ana):
    page = upload(ana, PRODUCTS)
    assert "First rows" in page.content.decode()
    trial = try_file(ana, ImportDraft.objects.get())
    assert (trial.status, trial.dry_run, trial.rejected) == (Status.SUCCEEDED_WITH_ERRORS, True, 1)
    assert not Variant.objects.exists()
    page = ana.get(f"/portal/files/{trial.pk}/").content.decode()
    assert "Nothing has changed" in page
    assert '<td data-label="Field">retail_price</td>' in page

    act(ana, f"/portal/files/{trial.pk}/do/import/")
    job = ImportJob.objects.latest("pk")
    run_job(job.pk)
    assert [variant.sku for variant in Variant.objects.all()] == ["A-1"]

    page = ana.get(f"/portal/files/{job.pk}/correct/")
    [row] = page.context["rows"]
    cells = {f"cell-{row.reject.pk}-{place}": text for place, text in enumerate(("A-2", "Kettle", "44.50"))}
    page = ana.post(f"/portal/files/{job.pk}/correct/", cells, follow=True)
    assert said(page) == ["1 corrected row is imported again."]
    run_job(ImportJob.objects.latest("pk").pk)
    assert {variant.sku for variant in Variant.objects.all()} == {"A-1", "A-2"}


def test_the_page_of_a_failed_trial_leads_to_the_upload_of_the_corrected_file(ana):
    upload(ana, b"code;price\nA-1;39.90\n")
    trial = try_file(ana, ImportDraft.objects.get())
    assert trial.status == Status.FAILED
    page = ana.get(f"/portal/files/{trial.pk}/").content.decode()
    assert '<a href="/portal/files/?kind=products">upload it again</a>' in page


def test_a_stock_file_is_imported_with_its_columns_and_warehouse(ana, acme, a_variant):
    warehouse = acme.warehouses.get(is_default=True)
    variant = a_variant(acme, sku="A-1")
    page = upload(ana, b"Artikel,Bestand\nA-1,7\n", kind="inventory")
    form = {"id_field": "Artikel", "id_type": "sku", "amount_field": "Bestand", "mode": "delta"}
    assert "Column with the quantity" in page.content.decode()
    trial = try_file(ana, ImportDraft.objects.get(), warehouse=str(warehouse.pk), **form)
    assert trial.status == Status.SUCCEEDED, trial.error
    act(ana, f"/portal/files/{trial.pk}/do/import/")
    run_job(ImportJob.objects.latest("pk").pk)
    assert StockLevel.objects.get(variant=variant).on_hand == 7


def test_the_page_shows_the_columns_that_an_import_ignores_and_its_warnings(ana, acme, a_variant):
    a_variant(acme, sku="A-1")
    upload(ana, b"Price list\nsku,quantity,warehouse\nA-1,7,East\n")
    trial = try_file(ana, ImportDraft.objects.get())
    assert (trial.status, trial.unchanged) == (Status.SUCCEEDED, 1)
    text = ana.get(f"/portal/files/{trial.pk}/").content.decode()
    assert "Ignored columns: quantity, warehouse." in text
    assert "Line 1 above the header was skipped." in text


def test_the_page_of_a_trial_leads_to_the_import_that_followed(ana):
    upload(ana, PRODUCTS)
    draft = ImportDraft.objects.get()
    trial = try_file(ana, draft)
    path = f"/portal/files/{trial.pk}/"
    assert "Nothing has changed" in ana.get(path).content.decode()
    act(ana, f"{path}do/import/")
    job = ImportJob.objects.latest("pk")
    running = ana.get(path).content.decode()
    assert f'The file is being imported: <a href="/portal/files/{job.pk}/">import {job.pk}</a>.' in running
    run_job(job.pk)
    ana.post(f"/portal/files/drafts/{draft.pk}/", {"do": "discard"})

    text = ana.get(path).content.decode()
    assert f'The file was imported: <a href="/portal/files/{job.pk}/">import {job.pk}</a>.' in text
    assert "Nothing has changed" not in text
    assert "Import file" not in text


def test_a_trial_whose_import_was_canceled_can_be_imported_again(ana):
    upload(ana, PRODUCTS)
    trial = try_file(ana, ImportDraft.objects.get())
    path = f"/portal/files/{trial.pk}/"
    act(ana, f"{path}do/import/")
    job = ImportJob.objects.latest("pk")
    act(ana, f"/portal/files/{job.pk}/do/cancel/")

    text = ana.get(path).content.decode()
    link = f'<a href="/portal/files/{job.pk}/">import {job.pk}</a>'
    assert f"The import of the file was canceled: {link}." in text
    assert "Import file" in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("list.csv", b"sku,title,retail_price\n", "list.csv has no rows below its header."),
        ("list.xlsx", b"Price list of May\n", "list.xlsx is not a workbook"),
    ],
)
def test_a_file_without_rows_is_explained_on_its_page(ana, name, content, message):
    text = upload(ana, content, name=name).content.decode()
    assert message in text
    assert "upload it again" in text
    assert "Try file" not in text


def test_a_workbook_without_rows_is_explained_when_it_has_been_read(ana):
    upload(ana, as_xlsx(["sku", "title"], []), name="list.xlsx")
    draft = ImportDraft.objects.get()
    read_draft(draft.pk)
    text = ana.get(f"/portal/files/drafts/{draft.pk}/").content.decode()
    assert "list.xlsx has no rows below its header." in text


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b'{"products": []}', "JSON"), (b"%PDF-1.7 \n", "PDF")],
)
def test_a_file_that_is_no_table_is_refused_with_its_name(ana, content, message):
    page = upload(ana, content)
    assert message in page.content.decode()
    assert not ImportDraft.objects.exists()


def test_imported_files_make_room_for_new_uploads(ana, monkeypatch):
    monkeypatch.setattr("imports.drafts.services.MOST_KEPT", 2)
    for sku in ("A-1", "A-2", "A-3"):
        upload(ana, f"sku,title,retail_price\n{sku},Lantern,1\n".encode(), name=f"{sku}.csv")
        trial = try_file(ana, ImportDraft.objects.latest("pk"))
        act(ana, f"/portal/files/{trial.pk}/do/import/")
        run_job(ImportJob.objects.latest("pk").pk)

    assert Variant.objects.count() == 3
    assert [draft.name for draft in ImportDraft.objects.order_by("pk")] == ["A-2.csv", "A-3.csv"]


def test_files_that_were_only_tried_are_listed_and_must_be_discarded_before_more_uploads(ana, monkeypatch):
    monkeypatch.setattr("imports.drafts.services.MOST_KEPT", 1)
    upload(ana, PRODUCTS)
    draft = ImportDraft.objects.get()
    try_file(ana, draft)

    refused = upload(ana, PRODUCTS, name="more.csv").text
    assert "1 uploads that are not imported. Discard some of them in the portal" in refused
    assert f"/portal/files/drafts/{draft.pk}/" in refused

    ana.post(f"/portal/files/drafts/{draft.pk}/", {"do": "discard"})
    upload(ana, PRODUCTS, name="more.csv")
    assert ImportDraft.objects.get().name == "more.csv"


def test_a_mapping_that_was_deleted_meanwhile_is_not_replaced(ana, acme):
    mine = SavedMappingFactory.create(supplier=acme, name="mine")
    upload(ana, PRODUCTS)
    draft = ImportDraft.objects.get()
    ImportDraft.objects.update(body={"mapping": "mine"})
    mine.delete()

    page = ana.post(f"/portal/files/drafts/{draft.pk}/", {"do": "try", "mapping": "mine"}, follow=True)

    assert said(page) == ["There is no mapping 'mine' any more. Choose another one."]
    assert not ImportJob.objects.exists()
    assert ImportDraft.objects.get().body == {"mapping": "mine"}


def test_a_discarded_file_is_gone(ana):
    upload(ana, PRODUCTS)
    page = ana.post(f"/portal/files/drafts/{ImportDraft.objects.get().pk}/", {"do": "discard"}, follow=True)
    assert said(page) == ["list.csv is discarded."]
    assert not ImportDraft.objects.exists()


def test_the_rejected_rows_come_as_a_file_for_spreadsheets(ana):
    upload(ana, PRODUCTS)
    trial = try_file(ana, ImportDraft.objects.get())
    answer = ana.get(f"/portal/files/{trial.pk}/errors/")
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    assert text.splitlines()[1].startswith("3,retail_price,")
    assert text.splitlines()[1].endswith("A-2,Kettle,ask us")


def test_a_member_without_the_role_reads_files_and_cannot_upload(acme):
    viewer = browser_of(MemberFactory.create(supplier=acme, member_role="viewer"))
    page = viewer.get("/portal/files/")
    assert "Upload file" not in page.content.decode()
    assert upload(viewer, PRODUCTS).status_code == 403
