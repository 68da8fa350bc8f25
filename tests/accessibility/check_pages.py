"""`make accessible`: axe finds no fault on any page of admin and portal, in both themes and at three widths.

The pages are also checked with each menu, dialog and autocomplete open, and at a zoom of 200 %.
`make test` does not run this file, because it opens each page ten times.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib import admin

from accounts.models import Member
from events.models import Event
from fulfillments.scorecard.sums import add_up
from imports.pipeline.job_runner import run_job
from orders.models import Order
from tests.backoffice.conftest import pushed  # noqa: F401 - a fixture
from tests.browser.conftest import AdminBrowser, browser, chromium  # noqa: F401 - fixtures
from tests.factories import ImportJobFactory, StaffFactory, UploadFactory
from tests.orders.push_bodies import an_order
from tests.portal.conftest import member_of  # noqa: F401 - a fixture
from tests.portal.test_tenancy import PAGES, everything, paths, records_of  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
RUN = """axe.run(%s).then(found => found.violations.flatMap(rule => rule.nodes.map(
    node => `${rule.id}: ${node.target.join(' ')}: ${node.any[0]?.message ?? rule.help}`)))"""
WIDTHS = (1280, 800, 390)
LARGE_TARGETS = "{rules: {'target-size': {enabled: true}}}"
"""An option of axe that also checks the size of links and buttons: at least 24 pixels."""
MOST_RECORDS = 6
"""Maximum number of records for which a page of the portal is checked."""
DOWNLOADS = {"packing_slip", "packing_slips", "file_errors"}


OPENED = """async ([options]) => {
    const found = [];
    const check = async (name, part) => {
        for (const rule of (await axe.run(part, options)).violations) {
            const about = `${name}: ${rule.id}`;
            found.push(...rule.nodes.map(
                node => `${about}: ${node.target.join(' ')}: ${node.any[0]?.message ?? rule.help}`));
        }
    };
    for (const menu of document.querySelectorAll('details:not([open])')) {
        if (!menu.checkVisibility()) continue;
        menu.open = true;
        await check(menu.querySelector('summary').innerText.trim(), menu);
        menu.open = false;
    }
    for (const dialog of document.querySelectorAll('[popover]')) {
        if (getComputedStyle(dialog).display !== 'none') continue;
        dialog.showPopover();
        await check(dialog.id, dialog);
        dialog.hidePopover();
    }
    return found;
}"""
"""A script that opens each menu, folded part and dialog, checks it by axe, and closes it again."""


@pytest.fixture
def pages(
    acme: Any, shop: Any, a_variant: Any, client_for: Any, settings: Any, tmp_path: Path, monkeypatch: Any
) -> list[str]:
    """Return the paths of all lists, and of one page of each kind, with records on it."""
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)
    variant = a_variant(acme, "LAN-1", stock=10, title="Storm Lantern", wholesale_price="9.5")
    for _ in range(4):
        client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    supplier = client_for(acme)
    work = [each["id"] for each in supplier.get("fulfillments").json()]
    supplier.put(f"fulfillments/{work[0]}/setStatus/accepted")
    supplier.put(f"fulfillments/{work[0]}/setStatus/shipped", {"tracking_number": "1Z999"})
    supplier.put(f"fulfillments/{work[1]}/setStatus/wrong_address")
    supplier.request("PATCH", f"variants/{variant.pk}", {"retail_price": 21})
    job = ImportJobFactory.create(supplier=acme, status="failed")
    rejected = client_for(acme).post("importProducts", {"data": ["sku,title,retail_price", "A-1,Hat,abc"]})
    tried = rejected.json()["id"]
    run_job(tried)
    held = ImportJobFactory.create(supplier=acme, status="awaiting_approval", options={"mode": "full"})
    UploadFactory.create(supplier=acme)
    Event.publish()
    add_up(seconds=10)
    order = Order.objects.order_by("id")[1]
    party = f"accounts/supplier/{acme.pk}"
    lists = (f"{model._meta.app_label}/{model._meta.model_name}/" for model in _listed())
    return [
        *("", "desk/", "search/?q=r&all=1", "activity/", "password_change/", "nothing/", *lists),
        *(f"{party}/{page}/" for page in ("change", "overview", "suspend", "scorecard")),
        *(f"{party}/{tab}/" for tab in ("orders", "stock", "files", "connections", "terms", "history")),
        *("accounts/supplier/onboard/", f"accounts/retailer/{shop.pk}/overview/", "performance/"),
        *(f"orders/order/{order.pk}/change/", f"orders/order/{order.pk}/do/correct-address/"),
        *(f"fulfillments/fulfillment/{number}/change/" for number in work[:2]),
        *(f"catalog/variant/{variant.pk}/change/", f"imports/importjob/{job.pk}/change/"),
        *("import-file/", f"imports/importjob/{tried}/change/", f"imports/importjob/{tried}/correct/"),
        f"imports/importjob/{held.pk}/change/",
        *(f"inventory/stocklevel/{variant.stock.get().pk}/change/", "accounts/partnership/add/"),
    ]


def _violations(browser: AdminBrowser, path: str, options: str = "{}") -> list[str]:  # noqa: F811
    browser.open(path)
    browser.page.evaluate(AXE)
    return [f"{path}: {each}" for each in browser.page.evaluate(RUN % options)]


def _listed() -> Iterator[Any]:
    return (model for model in admin.site._registry if model._meta.app_label != "auth")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(browser: AdminBrowser, pages: list[str], theme: str, width: int) -> None:  # noqa: F811
    browser.start_as("olga")
    browser.page.emulate_media(color_scheme=theme)
    browser.page.set_viewport_size({"width": width, "height": 900})
    found = []
    for path in pages:
        found += _violations(browser, f"/admin/{path}")
    StaffFactory.create(username="root", is_superuser=True)
    browser.start_as("root")
    found += _violations(browser, "/admin/ui/")
    browser.complaints.clear()  # drop the complaint about the missing page
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_open_menus_and_dialogs(
    browser: AdminBrowser,  # noqa: F811
    pages: list[str],
    theme: str,
    width: int,
) -> None:
    browser.start_as("olga")
    browser.page.emulate_media(color_scheme=theme)
    browser.page.set_viewport_size({"width": width, "height": 900})
    found = []
    for path in pages:
        found += _opened(browser, f"/admin/{path}")
    browser.complaints.clear()  # drop the complaint about the missing page
    assert found == []


def _opened(browser: AdminBrowser, path: str) -> list[str]:  # noqa: F811
    browser.open(path)
    browser.page.evaluate(AXE)
    found = [f"{path}: {each}" for each in browser.page.evaluate(OPENED, [{}])]
    for choice in browser.page.locator("input[data-choices]:visible").all():
        choice.focus()
        choice.fill("")  # an empty text makes the field propose the first records
        proposals = f"#{choice.get_attribute('list')} option"
        browser.page.wait_for_selector(proposals, state="attached")
        found += [f"{path}: choice: {each}" for each in browser.page.evaluate(RUN % "{}")]
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_hits_of_a_search(
    browser: AdminBrowser,  # noqa: F811
    pages: list[str],
    theme: str,
) -> None:
    browser.start_as("olga")
    browser.page.emulate_media(color_scheme=theme)
    browser.open("/admin/")
    browser.page.locator("#ui-search-term").press_sequentially("Lantern")
    browser.page.wait_for_selector("#ui-hits [data-hit]")
    browser.page.evaluate(AXE)
    assert browser.page.evaluate(RUN % "{}") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_fit_and_axe_finds_nothing_at_a_zoom_of_200_percent(
    chromium: Any,  # noqa: F811
    browser: AdminBrowser,  # noqa: F811
    pages: list[str],
    theme: str,
) -> None:
    """At 200 %, a window 1280 pixels wide has 640 CSS pixels."""
    browser.open("/admin/login/")
    context = chromium.browser.new_context(
        viewport={"width": 640, "height": 450}, device_scale_factor=2, color_scheme=theme
    )
    context.set_default_timeout(120_000)
    zoomed = AdminBrowser(context.new_page(), browser.base)
    zoomed.start_as("olga")
    found = []
    for path in pages:
        found += _violations(zoomed, f"/admin/{path}")
        wide = zoomed.page.evaluate("document.documentElement.scrollWidth")
        found += [f"{path}: the page is {wide} pixels wide"] if wide > 640 else []
    context.close()
    assert found == []


@pytest.fixture
def portal_members(
    everything: Any,  # noqa: F811
    acme: Any,
    shop: Any,
    client_for: Any,
) -> list[Member]:
    """Return the owners of a supplier and of a retailer. Their orders are in several states."""
    supplier = client_for(acme)
    for _ in range(3):
        client_for(shop).post("orders", an_order({"sku": "LAMP-Acme", "quantity": 1}))
    new, accepted, canceled, *_ = (each["id"] for each in supplier.get("fulfillments").json())
    supplier.put(f"fulfillments/{new}/setStatus/wrong_address")
    supplier.put(f"fulfillments/{accepted}/setStatus/accepted")
    body = {"tracking_number": "1Z999AA10123456784", "carrier": "UPS"}
    supplier.put(f"fulfillments/{accepted}/setStatus/shipped", body)
    client_for(shop).post(f"orders/{Order.objects.get(fulfillments=canceled).pk}/cancel")
    Event.publish()
    add_up(seconds=10)
    return [everything[acme], everything[shop]]


def _portal_paths(member: Member) -> Iterator[str]:
    """Yield the path of each page that the member may open. Pages of records are shown for some records."""
    for name, page, has_record in PAGES:
        if member.party.role not in page.sides or name in DOWNLOADS:
            continue
        if not has_record:
            yield from paths(name, page)
            continue
        for pk in records_of(page, member).values_list("pk", flat=True)[:MOST_RECORDS]:
            yield from paths(name, page, pk)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_in_the_portal_and_targets_are_large(
    browser: AdminBrowser,  # noqa: F811
    portal_members: list[Member],
    theme: str,
    width: int,
) -> None:
    browser.page.emulate_media(color_scheme=theme)
    browser.page.set_viewport_size({"width": width, "height": 900})
    found = _violations(browser, "/portal/login/", LARGE_TARGETS)
    for member in portal_members:
        browser.start_as(member.user.username)
        for path in _portal_paths(member):
            found += _violations(browser, path, LARGE_TARGETS)
    assert found == []
