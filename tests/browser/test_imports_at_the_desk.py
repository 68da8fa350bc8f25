"""Imports in a real browser: a page that follows a running import by itself, and its buttons."""

import pytest

from imports.models import ImportJob, Status
from imports.running import run_job
from inventory.models import StockLevel, Warehouse
from sftp_ingest.areas import area_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATH = "/admin/imports/importjob/"


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.lifecycle.wake", lambda job_id: None)  # the test runs the jobs itself


@pytest.fixture
def braked(acme, a_variant, client_for):
    """A full stock file that would set 120 variants to 0."""
    here = Warehouse.objects.get(supplier=acme, is_default=True)
    for number in range(120):
        StockLevel.objects.create(variant=a_variant(acme, f"B-{number}"), warehouse=here, on_hand=5)
    (area_of(acme) / "inventory/stock.csv").write_text("sku,quantity\nB-0,5\n")
    body = {"url": "inventory/stock.csv", "warehouse_id": here.pk, "mode": "full"}
    job = ImportJob.objects.get(pk=client_for(acme).post("importInventory", body).json()["id"])
    run_job(job.pk)
    return job


def test_an_operator_releases_a_braked_import_from_the_home_page(desk, braked):
    desk.log_in("olga")
    with desk.page.expect_navigation():
        desk.page.locator(".bo-queue", has_text="Imports awaiting").get_by_role("link").nth(1).click()
    assert "It would set 119 of 120 stocked variants to 0." in desk.page.locator(".bo-note").inner_text()

    desk.press("Approve")
    desk.page.fill("#id_reason", "They moved out")
    desk.press("Approve")
    assert desk.messages() == [f"Import {braked.pk} is released; it is queued now."]
    assert "They moved out" in desk.page.locator(".bo-history").inner_text()

    run_job(braked.pk)
    # Nobody touches the page: it asks for itself anew.
    desk.page.locator("h1 .bo-state", has_text="succeeded").wait_for(timeout=15_000)


def test_support_follows_and_cannot_act(desk, braked):
    desk.sit_down("sam")
    desk.open(f"{PATH}{braked.pk}/change/")
    assert desk.page.locator("h1 .bo-state").inner_text() == "awaiting_approval"
    assert desk.page.locator(".bo-deed").count() == 0
    desk.open(PATH)
    assert desk.page.locator("select[name=action]").count() == 0


def test_pages_of_imports_keep_within_the_window(desk, braked):
    ImportJob.objects.create(
        supplier=braked.supplier, kind="products", source="products/" + "x" * 300, status=Status.RUNNING
    )
    desk.sit_down("olga")
    for width in (1280, 800, 420):
        desk.page.set_viewport_size({"width": width, "height": 900})
        for job in ImportJob.objects.all():
            desk.open(f"{PATH}{job.pk}/change/")
            assert desk.page.evaluate("document.documentElement.scrollWidth") <= width
        desk.open(PATH)
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= width
