"""Several operators use the desk: an operator takes rows, comments stay, each role acts on its own rows."""

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import OperatorNote
from imports.models import Status
from tests.backoffice.conftest import messages
from tests.factories import ImportJobFactory, StaffFactory

DESK = "/admin/desk/"


def someone(name: str, group: str) -> Client:
    user = StaffFactory.create(username=name)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def nina(db) -> Client:
    return someone("nina", "Operators")


@pytest.fixture
def work(order, fulfillment, client_for, acme):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    return fulfillment


def post(client, record, **fields):
    row = {"model": record._meta.label_lower, "record_id": record.pk, "next": DESK, **fields}
    return client.post(f"{DESK}note/", row, follow=True)


def assignee(record) -> str:
    return OperatorNote.objects.get(model=record._meta.label_lower, record_id=record.pk).assigned_to


def test_a_row_is_taken_while_it_is_free_and_the_second_operator_reads_who_has_it(operator, nina, work):
    assert messages(post(nina, work, take="1")) == ["Assigned to you."]

    assert messages(post(operator, work, take="1")) == ["This row is already assigned to nina."]
    assert assignee(work) == "nina"


def test_taking_a_row_on_an_older_page_keeps_a_colleagues_comment(operator, nina, work):
    post(nina, work, text="The retailer answers on Monday")
    post(operator, work, take="1")

    [item] = operator.get(DESK).context["items"]
    assert [(comment.by, comment.text) for comment in item.comments] == [
        ("nina", "The retailer answers on Monday")
    ]
    assert assignee(work) == "olga"


def test_comments_are_kept_with_author_and_moment(operator, nina, work):
    post(nina, work, text="Asked the retailer")
    post(operator, work, text="Asked again")

    page = operator.get(DESK)
    [item] = page.context["items"]
    assert [(comment.by, comment.text) for comment in item.comments] == [
        ("olga", "Asked again"),
        ("nina", "Asked the retailer"),
    ]
    assert all(comment.created_at for comment in item.comments)
    assert "Asked the retailer" in page.text


def test_a_row_that_changed_hands_meanwhile_is_not_reassigned_but_the_comment_stays(operator, nina, work):
    post(nina, work, take="1")
    answer = post(operator, work, assigned_to="olga", assigned_before="", text="Called the retailer")

    assert messages(answer) == ["This row is already assigned to nina. Your comment was saved."]
    assert assignee(work) == "nina"
    [item] = operator.get(DESK).context["items"]
    assert item.comments[0].text == "Called the retailer"


def test_an_operator_who_sees_the_assignee_may_hand_the_row_on(operator, nina, work):
    post(nina, work, take="1")
    post(operator, work, assigned_to="olga", assigned_before="nina")
    assert assignee(work) == "olga"


@pytest.mark.parametrize(("group", "may"), [("Order desk", False), ("Catalogue desk", True)])
def test_a_role_is_offered_to_take_only_rows_of_its_desk(acme, group, may):
    job = ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    client = someone("ida", group)

    assert ("Assign to me" in client.get(DESK).text) is may
    assert post(client, job, take="1").status_code == (200 if may else 403)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("text", "x" * 1001, "Nothing was saved. Text: Ensure this value has at most 1000 characters"),
        (
            "snooze_hours",
            "9999",
            "Nothing was saved. Snooze hours: Ensure this value is less",
        ),
    ],
)
def test_a_note_that_does_not_fit_is_refused_with_the_reason(operator, work, field, value, error):
    assert messages(post(operator, work, **{field: value}))[0].startswith(error)
    assert not OperatorNote.objects.exists()


def test_a_note_on_a_row_that_does_not_exist_is_not_found(operator, work):
    work.pk = 10**9
    assert post(operator, work, take="1").status_code == 404
