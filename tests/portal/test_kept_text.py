"""A grid whose session ended keeps only the fields in which the member typed."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.sessions.models import Session

from imports.models import Status
from tests.factories import ImportJobFactory, RejectFactory

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


def test_a_page_of_rejected_rows_with_long_texts_is_kept(ana, owner, acme):
    job = ImportJobFactory.create(
        supplier=acme, kind="products", status=Status.SUCCEEDED_WITH_ERRORS, header=["sku", "description"]
    )
    rejects = [
        RejectFactory.create(job=job, line=line, cells=[f"A-{line}", "A long description. " * 100])
        for line in range(2, 102)
    ]
    path = f"/portal/files/{job.pk}/correct/"
    rows = ana.get(path).context["rows"]
    sent = {
        f"cell-{row.reject.pk}-{place}": cell.text for row in rows for place, cell in enumerate(row.cells)
    }
    corrected = f"cell-{rejects[0].pk}-0"

    Session.objects.all().delete()
    ana.post(path, {**sent, corrected: "A-2-BLUE"}, headers={"referer": f"http://testserver{path}"})
    ana.force_login(owner.user)

    assert ana.get(path).context["kept_text"].fields[corrected] == ["A-2-BLUE"]
