"""A grid whose session ended keeps only the fields in which the member typed."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.sessions.models import Session

GRID = "/portal/stock/"


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=5)


@pytest.fixture
def chair(acme, a_variant):
    return a_variant(acme, "CHAIR", stock=1)


def inputs(page):
    [grid] = re.findall(r'<form method="post"[^>]*class="ui-grid".*?</form>', page.text, re.S)
    tags = re.findall(r"<input[^>]*>", grid)
    return {_attribute(tag, "name"): _attribute(tag, "value") for tag in tags}


def _attribute(tag, name):
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else ""


@pytest.fixture
def kept(ana, owner):
    """Return a function that sends the grid after the end of the session. It returns the kept fields."""

    def send_and_sign_in(sent):
        Session.objects.all().delete()
        ana.post(GRID, sent, headers={"referer": f"http://testserver{GRID}"})
        ana.force_login(owner.user)
        return ana.get(GRID).context["kept_text"].fields

    return send_and_sign_in


def test_only_the_typed_row_is_kept_with_the_number_that_it_showed(ana, kept, lamp, chair):
    fields = kept(inputs(ana.get(GRID)) | {f"{chair.pk}-on_hand": "9"})

    rows = {name: values for name, values in fields.items() if "-" in name and name != "form_id"}
    assert rows == {f"{chair.pk}-on_hand": ["9"], f"initial-{chair.pk}-on_hand": ["1"]}
