"""A form that is sent twice changes the record once, and the second answer tells the operator."""

import re
from uuid import uuid4

import pytest
from django.contrib.admin import site

from accounts.actors import Actor, ActorKind
from accounts.models import OperatorAction, Result
from accounts.operating.bulk_actions import record_single
from inventory.admin import StockLevelAdmin
from inventory.models import StockLevel
from tests.backoffice.conftest import messages

FOUND = {"units": "5", "reason": "Found behind a shelf"}


@pytest.fixture
def level(acme, a_variant):
    a_variant(acme, "LAMP", stock=10)
    return StockLevel.objects.get()


class Adjusting:
    """A browser on the page *Adjust stock*: it opens the page, and sends the form of an opened page."""

    def __init__(self, operator, level):
        self.operator, self.path = operator, f"/admin/inventory/stocklevel/{level.pk}/do/adjust/"

    def open(self):
        return self.operator.get(self.path)

    def __call__(self, page, **answers):
        [form_id] = re.findall(r'name="form_id" value="([^"]+)"', page.content.decode())
        return self.operator.post(self.path, {**FOUND, **answers, "form_id": form_id}, follow=True)


@pytest.fixture
def adjust(operator, level):
    return Adjusting(operator, level)


def on_hand():
    return StockLevel.objects.get().on_hand


def test_a_form_that_is_sent_twice_is_done_once_and_says_so(adjust):
    page = adjust.open()
    assert messages(adjust(page)) == ["15 on hand; before: 10."]

    [said] = messages(adjust(page))
    assert said.startswith("This form was already sent, and was done only once: 15 on hand; before: 10. ")
    assert on_hand() == 15
    assert OperatorAction.objects.count() == 1


def test_a_form_that_is_opened_again_is_done_again(adjust):
    adjust(adjust.open())
    adjust(adjust.open())
    assert on_hand() == 20


def test_a_form_that_was_wrong_is_corrected_and_sent_again(adjust):
    wrong = adjust(adjust.open(), units="-11")
    assert on_hand() == 10
    adjust(wrong)
    assert on_hand() == 15


def test_one_of_two_concurrent_forms_is_done(db, level):
    """Both calls know the same form id. The second call fails when it stores the id again."""
    admin, by, form_id = StockLevelAdmin(StockLevel, site), Actor(ActorKind.OPERATOR, "olga"), uuid4()
    action = admin.find_action("adjust")
    assert action

    def send():
        answers = {"units": 5, "reason": "Found"}
        record = admin.acting_on([level.pk]).get()
        return record_single(action, record, by=by, answers=answers, form_id=form_id)

    assert send() == (Result.DONE, "15 on hand; before: 10.")
    result, message = send()
    assert result is Result.UNCHANGED
    assert message.startswith("This form was already sent")
    assert on_hand() == 15
