"""The menu of the admin: entries by task, with counts, and only entries that the user may open."""

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.urls import reverse

from backoffice.desk.kinds import KINDS
from backoffice.navigation import counting
from backoffice.navigation.counting import KEY, count_waiting
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.models import Status
from tests.factories import ImportJobFactory, StaffFactory


@pytest.fixture(autouse=True)
def _nothing_counted():
    cache.delete(KEY)
    yield
    cache.delete(KEY)


def links(page):
    return {link.label: link for section in page.context["navigation"] for link in section.links}


def test_a_user_with_all_rights_reaches_every_list(admin_client):
    urls = {link.url.partition("?")[0] for link in links(admin_client.get("/admin/")).values()}
    for model in admin.site._registry:
        meta = model._meta
        assert reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist") in urls, meta.label


def test_the_menu_has_every_page_and_marks_the_shown_one(admin_client):
    for label, link in links(admin_client.get("/admin/")).items():
        page = admin_client.get(link.url)
        assert page.status_code == 200, label
        assert [each.label for each in links(page).values() if each.is_current] == [label]


def test_a_page_within_a_list_marks_the_list(operator, order):
    page = operator.get(f"/admin/orders/order/{order.pk}/change/")
    assert [each.label for each in links(page).values() if each.is_current] == ["Orders"]


def test_counted_work_is_shown_beside_its_menu_entry(operator, fulfillment, acme):
    Fulfillment.objects.update(state=State.CANCELING)
    for status in (Status.AWAITING_APPROVAL, Status.AWAITING_APPROVAL):
        ImportJobFactory.create(supplier=acme, status=status)
    assert {link.count for link in links(operator.get("/admin/")).values()} == {""}

    count_waiting()

    found = {label: link.count for label, link in links(operator.get("/admin/")).items() if link.count}
    assert found == {"Desk": "3", "Imports": "2"}


def test_a_list_has_a_tab_for_each_kind_of_open_work_in_it(operator, acme):
    ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    count_waiting()

    def tabs(**filters):
        page = operator.get("/admin/imports/importjob/", filters)
        return [(tab.label, tab.count, tab.is_current) for tab in page.context["kind_tabs"]]

    assert tabs() == [("Awaiting approval", "1", False), ("Import failed", "", False)]
    assert tabs(status__exact="awaiting_approval")[0] == ("Awaiting approval", "1", True)


def test_every_kind_of_open_work_with_a_list_has_its_tab(admin_client):
    for kind in KINDS:
        if kind.listed is not None:
            page = admin_client.get(kind.url)
            assert [tab.label for tab in page.context["kind_tabs"] if tab.is_current] == [kind.title]


def test_counts_stop_at_a_limit(operator, acme, monkeypatch):
    monkeypatch.setattr(counting, "COUNTED", 1)
    for _ in range(3):
        ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    count_waiting()
    assert links(operator.get("/admin/"))["Imports"].count == "1+"


def test_pages_have_no_counts_while_the_cache_is_down(operator, monkeypatch):
    def gone(key):
        raise ConnectionError

    monkeypatch.setattr(cache, "get", gone)
    assert operator.get("/admin/").status_code == 200


def test_the_menu_offers_only_permitted_pages(client, support):
    assert "Import a file" not in links(support.get("/admin/"))
    client.force_login(StaffFactory.create(username="nina"))
    assert [link.label for link in links(client.get("/admin/")).values()] == ["Home", "Desk", "System status"]


def test_the_menu_has_seven_sections_of_work_and_two_apart(admin_client):
    sections = admin_client.get("/admin/").context["navigation"]
    assert [section.title for section in sections] == [
        *("Home", "Desk", "Orders", "Products", "Files", "Partners", "Performance"),
        *("Settings", "System"),
    ]
    assert [section.title for section in sections if section.apart] == ["Settings"], "only one gap"


def test_the_menu_is_accessible_and_opens_without_a_script(operator, acme):
    ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    count_waiting()
    text = operator.get("/admin/").text
    assert '<nav class="ui-nav" id="ui-nav" popover aria-label="Main">' in text
    assert 'popovertarget="ui-nav" aria-label="Menu"' in text
    assert '1<span class="visually-hidden"> waiting</span>' in text


def test_only_the_open_section_shows_its_pages(operator):
    text = operator.get("/admin/orders/order/").text
    menu = text[text.index('<nav class="ui-nav"') : text.index('id="content-start"')]
    assert "Fulfillments" in menu
    assert "Stock movements" not in menu
