"""Files that an operator uploads in the browser: mapping with a preview, dry run, and import."""

from __future__ import annotations

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now

from accounts.models import OperatorActionRow
from catalog.models import Variant
from imports.drafts import first_rows, services
from imports.models import AutoImport, ImportDraft, ImportJob, SavedMapping, Status
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel, Warehouse
from sftp_ingest.models import Blob
from tests.backoffice.conftest import do, messages, operator, support
from tests.factories import ImportDraftFactory, ImportJobFactory

__all__ = ["operator", "support"]

UPLOAD = "/admin/import-file/"
FOREIGN = "Artikel;Bezeichnung;Preis;Farbe\nA-1;Hemd;19,50;blue\nA-2;Hose;abc;red\n"
SHOPIFY = (
    "Handle,Title,Option1 Name,Option1 Value,Variant Price,Image Src,Status\n"
    "mug,Enamel mug,Color,Blue,14.00,https://pics.example.com/1.jpg,active\n"
    "mug,,,White,14.00,,\n"
)


@pytest.fixture
def send(operator, acme):
    """Return a function that uploads a file, and returns its draft."""

    def go(content, kind="products", name="spring.csv"):
        content = content.encode() if isinstance(content, str) else content
        sent = {"supplier": acme.pk, "kind": kind, "file": SimpleUploadedFile(name, content)}
        page = operator.post(UPLOAD, sent)
        assert page.status_code == 302, page.context["form"].errors
        return ImportDraft.objects.get(pk=int(page["Location"].split("/")[-2]))

    return go


def page_of(client, draft):
    return client.get(f"{UPLOAD}{draft.pk}/")


def press(client, draft, button, **said):
    return client.post(f"{UPLOAD}{draft.pk}/", {"do": button, **said}, follow=True)


def seen(client, draft, **said):
    """Return the preview for the current form."""
    return client.post(f"{UPLOAD}{draft.pk}/preview/", said).context["preview"]


def test_a_file_with_our_columns_is_imported_as_its_dry_run_predicted(operator, send, acme):
    draft = send("sku,title,retail_price\nA-1,Shirt,19.50\nA-2,,3\n")
    rows = page_of(operator, draft).context["preview"].rows
    assert [row.values for row in rows] == [["A-1", "Shirt", "19.50"], ["A-2", "", "3"]]
    assert [fault.message for fault in rows[1].faults] == ["title is mandatory and must not be empty."]

    press(operator, draft, "try")
    tried = ImportJob.objects.get()
    assert (tried.dry_run, tried.source, tried.as_of) == (True, "spring.csv", draft.created_at)
    run_job(tried.pk)
    assert not Variant.objects.exists()

    page = do(operator, tried, "import")
    assert "Started" in messages(page)[0]
    job = ImportJob.objects.get(dry_run=False)
    assert OperatorActionRow.objects.get().message == f"Started: import {job.pk}."
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.created, job.rejected, job.created_by) == (1, 1, "user:olga")
    assert Variant.objects.get().sku == "A-1"


def test_columns_of_any_name_are_mapped_on_a_page_with_a_preview(operator, send):
    draft = send(FOREIGN)
    columns = page_of(operator, draft).context["columns"]
    assert [(each.name, each.left_alone) for each in columns] == [
        (name, "ignored") for name in ("Artikel", "Bezeichnung", "Preis", "Farbe")
    ]
    said = {"column-0": "sku", "column-1": "title", "column-2": "retail_price", "column-3": "option.color"}

    found = seen(
        operator, draft, **said, **{"string_transformer-1": "uppercase", "math_transformer-2": "value * 2"}
    )

    assert found.fields == ["sku", "title", "retail_price", "option"]
    assert found.rows[0].values == ["A-1", "HEMD", "39.0000", "color: blue"]
    assert "'abc'" in found.rows[1].faults[0].message
    draft.refresh_from_db()
    assert draft.body == {}, "a preview saves nothing"

    press(operator, draft, "try", **said)
    job = ImportJob.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.created, job.rejected) == (1, 1)


def test_an_incomplete_mapping_is_reported_before_the_trial(operator, send):
    draft = send(FOREIGN)
    assert {"sku", "title", "retail_price"} <= set(seen(operator, draft).missing)
    said = {"column-0": "sku", "column-1": "title", "math_transformer": "retail_price = 1 +"}
    assert seen(operator, draft, **said).problem
    found = seen(operator, draft, **{**said, "math_transformer": "retail_price = weight * 2"})
    assert (
        found.problem == "math_transformer computes retail_price from weight, which the file does not have."
    )


def test_a_parent_row_has_the_fault_in_the_preview_that_the_import_reports(operator, send):
    draft = send(
        "ID,Type,SKU,Name,Regular price,Parent\n1,variable,TEE,Tee,,\n2,variation,TEE-S,Tee S,5,TEE\n"
    )

    rows = page_of(operator, draft).context["preview"].rows
    press(operator, draft, "try")
    run_job(ImportJob.objects.get().pk)

    assert [fault.field for row in rows for fault in row.faults] == ["Type"]
    assert [reject.field for reject in ImportJob.objects.get().rejects.all()] == ["Type"]


def test_a_shop_export_is_recognized_and_its_mapping_can_be_changed(operator, send):
    draft = send(SHOPIFY)
    assert draft.body == {"mapping": "shopify"}
    page = page_of(operator, draft)
    assert [each.name for each in page.context["mappings"] if each.fits] == ["shopify"]
    rows = page.context["preview"].rows
    place = page.context["preview"].fields.index("sku")
    assert [row.values[place] for row in rows] == ["mug-Blue", "mug-White"]

    unchanged = {f"column-{each.index}": each.chosen for each in page.context["columns"]}
    press(operator, draft, "look", **unchanged)
    draft.refresh_from_db()
    assert draft.body == {"mapping": "shopify"}, "unchanged columns are left to the mapping"

    press(operator, draft, "look", **{**unchanged, "column-1": "description"})
    draft.refresh_from_db()
    assert "mapping" not in draft.body
    found = page_of(operator, draft).context["preview"]
    assert "description" in found.fields
    assert "title" in found.missing
    assert [row.values[found.fields.index("sku")] for row in found.rows] == ["mug-Blue", "mug-White"]


def test_choosing_a_column_for_a_field_frees_the_former_column(operator, send):
    draft = send(SHOPIFY)
    unchanged = {f"column-{each.index}": each.chosen for each in page_of(operator, draft).context["columns"]}

    found = seen(operator, draft, **{**unchanged, "column-6": "title"})

    assert found.problem == ""
    assert found.rows[0].values[found.fields.index("title")] == "active"


def test_a_manual_mapping_is_saved_and_offered_for_the_next_similar_file(operator, send, acme):
    draft = send(FOREIGN)
    said = {"column-0": "sku", "column-1": "title", "column-2": "retail_price"}
    press(operator, draft, "save", name="winter", **said)
    assert SavedMapping.objects.get().name == "winter"

    again = send(FOREIGN)
    assert again.body == {"mapping": "winter"}
    assert page_of(operator, again).context["preview"].rows[0].values == ["A-1", "Hemd", "19.50"]

    page = press(operator, again, "save", name="shopify")
    assert messages(page) == ["Is the name of a mapping of the service."]


def test_later_files_are_read_with_the_same_mapping(operator, send, acme):
    draft = send(FOREIGN)
    press(
        operator, draft, "automatic", **{"column-0": "sku", "column-1": "title", "column-2": "retail_price"}
    )
    automatic = AutoImport.objects.get()
    assert (automatic.kind, automatic.enabled) == ("products", True)
    assert [each["field"] for each in automatic.options["field_mapping"]] == ["sku", "title", "retail_price"]


def test_the_list_of_automatic_imports_explains_how_to_add_one(operator, support, acme):
    for path in ("/admin/imports/autoimport/", f"/admin/accounts/supplier/{acme.pk}/overview/"):
        assert UPLOAD in operator.get(path).text
        assert UPLOAD not in support.get(path).text


def test_a_stock_file_names_its_warehouses_by_columns(operator, send, acme, a_variant):
    variant = a_variant(acme, "A-1", stock=4)
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    draft = send("SKU,Name,Qty\nA-1,Shirt,7\nA-2,Hat,x\n", "inventory", "stock.csv")
    assert draft.body == {
        "id_type": "sku",
        "id_field": "SKU",
        "amount_field": "Qty",
        "mode": "delta",
        "warehouse_id": east.pk,
    }
    rows = page_of(operator, draft).context["preview"].rows
    assert rows[0].values == ["A-1", "7"]
    assert "'x'" in rows[1].faults[0].message

    chosen = {
        "id_type": "sku",
        "id_field": "SKU",
        "amount_field": "Qty",
        "mode": "delta",
        "warehouse": str(east.pk),
    }
    press(operator, draft, "try", **chosen)
    job = ImportJob.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.updated, job.rejected) == (1, 1)
    assert StockLevel.objects.get(variant=variant).on_hand == 4

    found = seen(operator, draft, **{**chosen, "warehouse": "column"})
    assert found.problem == "Give warehouse_id or warehouse_field."
    gone = {**chosen, "warehouse": "999999"}
    found = seen(operator, draft, **gone)
    assert found.problem.startswith("Warehouse: Select a valid choice. 999999")
    assert "999999" in messages(press(operator, draft, "try", **gone))[0]
    assert ImportJob.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The submitted file is empty."),
        (b"\n\n", "The file is empty. Its first line must be the header."),
        (b"a,a\n1,2\n", "has the column 'a' twice"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_at_once_and_not_kept(operator, acme, content, said):
    sent = {"supplier": acme.pk, "kind": "products", "file": SimpleUploadedFile("a.csv", content)}
    page = operator.post(UPLOAD, sent)
    assert said in page.text.replace("&#x27;", "'")
    assert not ImportDraft.objects.exists()


def test_packed_files_and_odd_rows_show_as_they_are_imported(operator, send):
    draft = send(
        gzip.compress(b"sku,title,retail_price\nA-1,Shirt,1\nA-2,Hat\n,,\nA-3,Sock,2\n"), name="a.csv.gz"
    )
    first_rows.read_draft(draft.pk)
    found = page_of(operator, draft).context["preview"]
    assert [(row.line, row.values[0]) for row in found.rows] == [(2, "A-1"), (5, "A-3")]
    assert found.unreadable == 1


def test_support_uploads_nothing_and_sees_no_draft(support, acme):
    draft = ImportDraftFactory.create(supplier=acme)
    assert support.get(UPLOAD).status_code == 403
    assert support.get(f"{UPLOAD}{draft.pk}/").status_code == 403
    assert support.post(f"{UPLOAD}{draft.pk}/preview/").status_code == 403


def test_discarded_and_old_drafts_are_deleted_with_their_content(operator, acme, settings):
    draft, old, fresh = (ImportDraftFactory.create(supplier=acme) for _ in range(3))
    ImportDraft.objects.filter(pk=old.pk).update(created_at=Now() - services.KEPT * 2)
    press(operator, draft, "discard")
    assert services.forget_old() == 1
    assert list(ImportDraft.objects.all()) == [fresh]
    assert Blob.objects.unnamed().count() == 2


def test_the_number_of_drafts_per_supplier_is_limited(operator, acme, monkeypatch):
    monkeypatch.setattr(services, "MOST_KEPT", 1)
    ImportDraftFactory.create(supplier=acme)
    sent = {"supplier": acme.pk, "kind": "products", "file": SimpleUploadedFile("a.csv", b"sku\nA\n")}
    assert "uploads that are not imported" in operator.post(UPLOAD, sent).text


def test_a_dry_run_of_a_supplier_cannot_be_imported_from_here(operator, acme):
    job = ImportJobFactory.create(supplier=acme, dry_run=True, status=Status.SUCCEEDED)
    do(operator, job, "import")
    assert ImportJob.objects.count() == 1
