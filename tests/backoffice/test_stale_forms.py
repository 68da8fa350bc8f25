"""Two operators edit the same record at the same time, and no change is lost."""

import re

import pytest
from django.test import Client

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
            sent[bound.html_initial_name] = "" if value is None else value
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
