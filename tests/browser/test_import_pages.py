"""Imports in a real browser: a page that follows a running import by itself, and its buttons."""

import pytest

from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tests.factories import ImportJobFactory, StockLevelFactory
from tests.upload_area import area_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATH = "/admin/imports/importjob/"


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)  # the test runs the jobs itself


@pytest.fixture
def held(acme, a_variant, client_for):
    """A full stock file that would set 120 variants to 0."""
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
    for number in range(120):
        StockLevelFactory.create(variant=a_variant(acme, f"B-{number}"), warehouse=warehouse, on_hand=5)
    (area_of(acme) / "inventory/stock.csv").write_text("sku,quantity\nB-0,5\n")
    body = {"url": "inventory/stock.csv", "warehouse_id": warehouse.pk, "mode": "full"}
    job = ImportJob.objects.get(pk=client_for(acme).post("importInventory", body).json()["id"])
    run_job(job.pk)
    return job


def test_an_operator_releases_a_held_import_from_the_home_page(browser, held):
    browser.log_in("olga")
    with browser.page.expect_navigation():
        browser.page.locator(".bo-queue", has_text="Imports awaiting").get_by_role("link").nth(1).click()
    assert "It would set 119 of 120 stocked variants to 0." in browser.page.locator(".bo-note").inner_text()

    browser.press("Approve")
    browser.page.fill("#id_reason", "They moved out")
    browser.press("Approve")
    assert browser.messages() == [f"Import {held.pk} is released; it is queued now."]
    assert "They moved out" in browser.page.locator(".bo-history").inner_text()

    run_job(held.pk)
    # Nobody touches the page: it reloads itself.
    browser.page.locator("h1 .bo-state", has_text="succeeded").wait_for(timeout=15_000)


def test_support_follows_and_cannot_act(browser, held):
    browser.start_as("sam")
    browser.open(f"{PATH}{held.pk}/change/")
    assert browser.page.locator("h1 .bo-state").inner_text() == "awaiting_approval"
    assert browser.page.locator(".bo-action").count() == 0
    browser.open(PATH)
    assert browser.page.locator("select[name=action]").count() == 0


def test_pages_of_imports_keep_within_the_window(browser, held):
    ImportJobFactory.create(supplier=held.supplier, source="products/" + "x" * 300, status=Status.RUNNING)
    browser.start_as("olga")
    for width in (1280, 800, 420):
        browser.page.set_viewport_size({"width": width, "height": 900})
        for job in ImportJob.objects.all():
            browser.open(f"{PATH}{job.pk}/change/")
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
        browser.open(PATH)
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
