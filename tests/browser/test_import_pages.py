"""Imports in a real browser: pages that update themselves while an import runs, and their buttons."""

import pytest

from imports.models import ImportDraft, ImportJob, Status
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from sftp_ingest.area import contents
from tests.factories import ImportDraftFactory, ImportJobFactory, StockLevelFactory
from tests.upload_area import area_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATH = "/admin/imports/importjob/"
KEEP_WHAT_IS_SAID = """() => {
    const said = [];
    const shown = document.querySelector("#bo-sending [role=status]");
    new MutationObserver(() => {
        said.push(shown.textContent);
        sessionStorage.said = said.join("|");
    }).observe(shown, { childList: true });
}"""


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)  # the test runs the jobs itself


@pytest.fixture
def held(acme, a_variant, client_for):
    """Import a full stock file that sets 119 of 120 variants to 0, and therefore waits for approval."""
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
    for number in range(120):
        StockLevelFactory.create(variant=a_variant(acme, f"B-{number}"), warehouse=warehouse, on_hand=5)
    (area_of(acme) / "inventory/stock.csv").write_text("sku,quantity\nB-0,5\n")
    body = {"url": "inventory/stock.csv", "warehouse_id": warehouse.pk, "mode": "full"}
    job = ImportJob.objects.get(pk=client_for(acme).post("importInventory", body).json()["id"])
    run_job(job.pk)
    return job


def test_on_a_phone_a_long_state_keeps_the_check_box_inside_the_list(browser, acme):
    ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED_WITH_ERRORS)
    browser.start_as("olga")
    browser.page.set_viewport_size({"width": 360, "height": 900})
    browser.open(PATH)
    hidden = "list => list.scrollWidth - list.clientWidth"
    assert browser.page.locator("#changelist").evaluate(hidden) == 0
    browser.page.set_viewport_size({"width": 1280, "height": 900})


def test_an_operator_releases_a_held_import_from_the_home_page(browser, held):
    browser.log_in("olga")
    with browser.page.expect_navigation():
        browser.page.locator(".bo-desk tbody a").first.click()
    assert (
        "The file would set 119 of 120 stocked variants to 0."
        in browser.page.locator(".ui-note").inner_text()
    )

    browser.press("Approve import")
    browser.page.fill("#id_reason", "They moved out")
    browser.press("Approve import")
    assert browser.messages() == [f"Import {held.pk} is approved. Its status is queued."]
    browser.open(f"/admin/imports/importjob/{held.pk}/change/")
    assert "They moved out" in browser.page.locator(".ui-history").inner_text()

    run_job(held.pk)
    # The page reloads itself without a click.
    browser.page.locator("h1 .ui-badge", has_text="Succeeded").wait_for(timeout=60_000)


def test_support_follows_and_cannot_act(browser, held):
    browser.start_as("sam")
    browser.open(f"{PATH}{held.pk}/change/")
    assert browser.page.locator("h1 .ui-badge").inner_text() == "Awaiting approval"
    assert browser.page.locator("#content .ui-button").count() == 0
    browser.open(PATH)
    assert browser.page.locator("select[name=action]").count() == 0


def test_pages_of_imports_are_not_wider_than_the_window(browser, held):
    ImportJobFactory.create(supplier=held.supplier, source="products/" + "x" * 300, status=Status.RUNNING)
    browser.start_as("olga")
    for width in (1280, 800, 420):
        browser.page.set_viewport_size({"width": width, "height": 900})
        for job in ImportJob.objects.all():
            browser.open(f"{PATH}{job.pk}/change/")
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
        browser.open(PATH)
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_rejected_rows_are_corrected_beside_their_faults(browser, acme, client_for):
    body = {"data": ["sku,title,retail_price", "A-1,Shirt,19.50", "A-2,Hat,abc"]}
    job = ImportJob.objects.get(pk=client_for(acme).post("importProducts", body).json()["id"])
    run_job(job.pk)
    browser.start_as("olga")
    browser.open(f"{PATH}{job.pk}/change/")
    browser.press("Correct rows")

    wrong = browser.page.get_by_role("textbox", name="retail_price, line 3")
    assert wrong.get_attribute("aria-invalid") == "true"
    wrong.fill("8.50")
    with browser.page.expect_navigation():
        wrong.press("Enter")

    assert browser.messages() == ["1 corrected row is imported again."]
    following = ImportJob.objects.latest("pk")
    run_job(following.pk)
    browser.page.locator("h1 .ui-badge", has_text="Succeeded").wait_for(timeout=60_000)
    assert browser.page.locator("dd", has_text="1 rejected row of import").count() == 1


def test_a_large_file_is_sent_in_chunks_with_progress(browser, acme, monkeypatch, tmp_path):
    monkeypatch.setattr("imports.drafts.chunks.LARGEST_CHUNK", 1000)
    rows = "".join(f"A-{number},Shirt,19.50\n" for number in range(200))
    (tmp_path / "large.csv").write_text(f"sku,title,retail_price\n{rows}")
    browser.start_as("olga")
    browser.open(f"/admin/import-file/?supplier={acme.pk}")
    browser.page.evaluate(KEEP_WHAT_IS_SAID)
    browser.page.set_input_files("#id_file", tmp_path / "large.csv")
    browser.click("[value='Show preview']")

    assert "Map columns of large.csv" in browser.page.locator("h1").inner_text()
    said = browser.page.evaluate("sessionStorage.said").split("|")
    assert (len(said), said[-1]) == (5, "Upload complete. The file is being read.")
    assert ImportDraft.objects.get().blob.size == (tmp_path / "large.csv").stat().st_size


def test_the_preview_follows_each_change_of_the_mapping(browser, acme):
    content = b"Artikel;Bezeichnung;Preis\nA-1;Hemd;19,50\nA-2;Hose;abc\n"
    draft = ImportDraftFactory.create(supplier=acme, blob=contents.write([content]))
    browser.start_as("olga")
    browser.open(f"/admin/import-file/{draft.pk}/")
    preview = browser.page.locator("#bo-preview")

    for column, field in (("Artikel", "sku"), ("Bezeichnung", "title"), ("Preis", "retail_price")):
        browser.page.get_by_label(f"Field of {column}").select_option(field)
        preview.locator("th", has_text=field).wait_for()
    preview.locator("td", has_text="Hemd").wait_for()
    assert "'abc'" in preview.locator(".bo-wrong").inner_text()

    browser.page.get_by_label("Change the cells of Preis").click()
    browser.page.locator("[name=math_transformer-2]").fill("value * 2")
    preview.locator("td", has_text="39").wait_for()
    draft.refresh_from_db()
    assert draft.body == {}  # nothing is stored until a button is pressed

    # With an incomplete formula, the preview shows an error instead of rows.
    browser.page.locator("[name=math_transformer-2]").fill("value *")
    preview.locator("td", has_text="Hemd").wait_for(state="detached")
    browser.page.locator("[name=math_transformer-2]").fill("")
    preview.locator("td", has_text="19.5").wait_for()
