"""Two operators edit the same record at the same time, and no change is lost."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.forms import PasswordInput
from django.test import Client

from accounts.models import ApiKey, Partnership
from accounts.scopes import Scope
from tests.backoffice.conftest import do
from tests.factories import StaffFactory


@pytest.fixture
def colleague(db):
    client = Client()
    client.force_login(StaffFactory.create(username="ravi", group="Operators"))
    return client


def fields_of(client, url):
    """Return the fields of the form as a browser would send them."""
    form = client.get(url).context["adminform"].form
    sent = {}
    for bound in form:
        value = bound.value()
        sent[bound.html_name] = "" if value is None else value
        if bound.field.show_hidden_initial:
            sent[bound.html_initial_name] = bound.field.hidden_widget().format_value(value) or ""
    return {name: value for name, value in sent.items() if value is not False}


def test_a_stale_form_names_the_colleagues_change_and_keeps_the_typed_text(operator, colleague, acme):
    url = f"/admin/accounts/supplier/{acme.pk}/change/"
    mine = fields_of(operator, url)
    assert colleague.post(url, {**fields_of(colleague, url), "name": "Acme Ltd"}).status_code == 302

    page = operator.post(url, {**mine, "name": "Acme Inc"})
    text = page.text.replace("&#x27;", "'")
    assert "ravi changed 'Acme' to 'Acme Ltd' in the meantime. Save again to use your value." in text
    assert re.search(r'<input[^>]*name="name"[^>]*value="Acme Inc"', page.text)
    acme.refresh_from_db()
    assert acme.name == "Acme Ltd"

    again = {**mine, "name": "Acme Inc", "initial-name": "Acme Ltd"}
    assert re.search(r'name="initial-name" value="Acme Ltd"', page.text)
    assert operator.post(url, again).status_code == 302
    acme.refresh_from_db()
    assert acme.name == "Acme Inc"


def test_a_save_keeps_the_other_fields_that_a_colleague_changed(operator, colleague, acme):
    url = f"/admin/accounts/supplier/{acme.pk}/change/"
    mine = fields_of(operator, url)
    sent = {**fields_of(colleague, url), "contact_email": "new@acme.example"}
    assert colleague.post(url, sent).status_code == 302

    assert operator.post(url, {**mine, "name": "Acme Inc"}).status_code == 302
    acme.refresh_from_db()
    assert (acme.name, acme.contact_email) == ("Acme Inc", "new@acme.example")


@pytest.fixture
def key_page(acme):
    key, _ = ApiKey.issue(acme, "ERP", scopes=["fulfillments:read", "fulfillments:write"])
    return key, f"/admin/accounts/apikey/{key.pk}/change/"


def test_a_rotated_key_keeps_its_end_when_an_older_page_is_saved(operator, colleague, key_page):
    key, url = key_page
    mine = fields_of(operator, url)
    do(colleague, key, "rotate")
    key.refresh_from_db()
    assert key.expires_at is not None

    assert operator.post(url, {**mine, "name": "ERP of Acme"}).status_code == 302
    ends = key.expires_at
    key.refresh_from_db()
    assert (key.name, key.expires_at) == ("ERP of Acme", ends)


def test_scopes_and_networks_that_a_colleague_took_away_stay_away(operator, colleague, key_page):
    key, url = key_page
    mine = fields_of(operator, url)
    less = {"scopes": ["fulfillments:read"], "allowed_networks": "10.0.0.0/8,10.1.0.0/16"}
    assert colleague.post(url, {**fields_of(colleague, url), **less}).status_code == 302

    assert operator.post(url, {**mine, "name": "ERP of Acme"}).status_code == 302
    key.refresh_from_db()
    assert (key.name, key.scopes) == ("ERP of Acme", ["fulfillments:read"])
    assert key.allowed_networks == ["10.0.0.0/8", "10.1.0.0/16"]


def test_a_key_whose_scopes_were_all_given_back_keeps_all_scopes(operator, colleague, key_page):
    key, url = key_page
    mine = fields_of(operator, url)
    assert colleague.post(url, {**fields_of(colleague, url), "scopes": []}).status_code == 302

    assert operator.post(url, {**mine, "name": "ERP of Acme"}).status_code == 302
    key.refresh_from_db()
    assert (key.name, key.scopes) == ("ERP of Acme", None)


def test_boxes_that_both_changed_are_saved_only_at_a_second_save(operator, colleague, key_page):
    key, url = key_page
    mine = {**fields_of(operator, url), "scopes": ["fulfillments:write"]}
    less = {**fields_of(colleague, url), "scopes": ["fulfillments:read"]}
    assert colleague.post(url, less).status_code == 302

    page = operator.post(url, mine)
    assert (
        "ravi changed 'fulfillments:read, fulfillments:write' to 'fulfillments:read' in the meantime."
        in page.text.replace("&#x27;", "'")
    )
    form = page.context["adminform"].form
    again = {**mine, "initial-scopes": form.data["initial-scopes"]}
    assert operator.post(url, again).status_code == 302
    key.refresh_from_db()
    assert key.scopes == ["fulfillments:write"]


def test_a_page_that_showed_no_box_checked_keeps_the_boxes_of_a_colleague(operator, colleague, acme):
    key, _ = ApiKey.issue(acme, "ERP")
    url = f"/admin/accounts/apikey/{key.pk}/change/"
    mine = {**fields_of(operator, url), "scopes": []}
    sent = {**fields_of(colleague, url), "scopes": [Scope.INVENTORY_READ.value]}
    assert colleague.post(url, sent).status_code == 302

    assert operator.post(url, {**mine, "name": "ERP of Acme"}).status_code == 302
    key.refresh_from_db()
    assert key.scopes == [Scope.INVENTORY_READ]


def test_service_types_and_permissions_that_a_colleague_changed_stay(colleague, admin_client, acme, shop):
    partnership = Partnership.objects.get(supplier=acme, retailer=shop)
    group = Group.objects.get(name="Support")
    group.permissions.set(Permission.objects.all()[:3])
    kept = {
        f"/admin/accounts/partnership/{partnership.pk}/change/": {"max_wait_days": "4"},
        f"/admin/auth/group/{group.pk}/change/": {"name": "Late shift"},
    }
    mine = {url: fields_of(admin_client, url) | change for url, change in kept.items()}
    Partnership.objects.update(service_types=["wholesale"])
    group.permissions.set(Permission.objects.all()[1:2])

    for url, sent in mine.items():
        assert admin_client.post(url, sent).status_code == 302
    partnership.refresh_from_db()
    group.refresh_from_db()
    assert (partnership.max_wait_days, partnership.service_types) == (4, ["wholesale"])
    assert (group.name, [*group.permissions.all()]) == ("Late shift", [*Permission.objects.all()[1:2]])


def test_every_form_of_the_admin_sends_the_shown_value_of_every_field_except_passwords(rf, db):
    request = rf.get("/")
    request.user = User(is_superuser=True, is_staff=True, is_active=True)
    unsent = [
        f"{model.__name__}.{name}"
        for model, pages in admin.site._registry.items()
        if pages.has_change_permission(request)
        for name, field in pages.get_form(request, model(), change=True)(instance=model(pk=1)).fields.items()
        if not (field.show_hidden_initial or field.disabled or isinstance(field.widget, PasswordInput))
    ]
    assert unsent == []
