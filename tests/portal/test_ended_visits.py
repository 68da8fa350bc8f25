"""*End visit* leads an operator back to the admin at any time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.visitors import VISIT
from tests.backoffice.conftest import do, operator  # noqa: F401

END = "/portal/end-visit/"


@pytest.fixture
def visit(operator, owner):  # noqa: F811
    do(operator, owner, "see-as")


@pytest.fixture
def after_the_visit(visit, monkeypatch):
    later = timezone.now() + VISIT + timedelta(minutes=1)
    monkeypatch.setattr("portal.visitors.timezone.now", lambda: later)


def test_a_visit_that_is_over_ends_like_a_visit_in_progress(operator, owner, after_the_visit):  # noqa: F811
    assert operator.get(END).url == f"/admin/accounts/supplier/{owner.supplier_id}/team/"


def test_a_visit_as_a_member_who_was_removed_meanwhile_can_be_ended(operator, owner, visit):  # noqa: F811
    owner.removed_at = timezone.now()
    owner.save()

    assert operator.get(END).url == f"/admin/accounts/supplier/{owner.supplier_id}/team/"


def test_ending_a_visit_twice_leads_to_the_admin(operator, visit):  # noqa: F811
    operator.get(END)

    assert operator.get(END).url == "/admin/"


def test_a_member_has_no_visit_to_end(ana):
    assert ana.get(END).status_code == 404
