"""Several operators use the desk: an operator takes rows, comments stay, each role acts on its own rows."""

from importlib import import_module

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import OperatorNote
from imports.models import Status
from orders.models import Order
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


def assignee(work) -> str:
    return OperatorNote.objects.get(model="orders.order", record_id=work.order_id).assigned_to


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


def test_a_row_that_changed_hands_meanwhile_is_not_snoozed(operator, nina, work):
    post(nina, work, take="1")
    answer = post(operator, work, assigned_to="olga", assigned_before="", snooze_hours="48")

    assert messages(answer) == ["This row is already assigned to nina."]
    [item] = nina.get(DESK).context["items"]
    assert item.note.assigned_to == "nina"


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


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"assigned_to": "olgaa"}, "No operator has the name olgaa. Choose a name from the list."),
        ({"assigned_to": "olga", "snooze_hours": "soon"}, "Snooze hours: Enter a whole number."),
    ],
)
def test_a_comment_is_saved_even_if_another_field_is_wrong(operator, work, wrong, error):
    answer = post(operator, work, text="Called the retailer", **wrong)

    assert messages(answer) == [f"Only your comment was saved. {error}"]
    [item] = operator.get(DESK).context["items"]
    assert [comment.text for comment in item.comments] == ["Called the retailer"]
    assert assignee(work) == ""


def test_a_row_of_a_colleague_who_left_can_be_commented_and_snoozed(operator, nina, work):
    post(nina, work, take="1")
    User.objects.filter(username="nina").update(is_active=False)
    unchanged = {"assigned_to": "nina", "assigned_before": "nina"}

    answer = post(operator, work, **unchanged, text="Called the retailer", snooze_hours="4")

    assert messages(answer) == ["Snoozed for 4 hours."]
    assert assignee(work) == "nina"
    [item] = operator.get(DESK, {"taken": "snoozed"}).context["items"]
    assert item.comments[0].text == "Called the retailer"


def test_a_comment_on_an_older_page_keeps_the_colleague_who_took_the_row_since(operator, nina, work):
    post(nina, work, take="1")

    answer = post(operator, work, assigned_to="", assigned_before="", text="Called the retailer")

    assert messages(answer) == ["Note saved."]
    assert assignee(work) == "nina"


def test_an_order_with_two_problems_is_taken_and_snoozed_once(operator, nina, work):
    Order.objects.update(has_unknown_country=True)
    [item] = operator.get(DESK).context["items"]
    assert (item.kind.name, item.also) == ("address", ["Unknown country"])

    post(operator, work, take="1")
    assert nina.get(DESK, {"taken": "free"}).context["items"] == []
    [item] = nina.get(DESK, {"kind": "country"}).context["items"]
    assert item.note.assigned_to == "olga"
    assert messages(post(nina, work.order, take="1")) == ["This row is already assigned to olga."]

    post(operator, work, snooze_hours="4")
    assert nina.get(DESK).context["items"] == []
    assert len(nina.get(DESK, {"taken": "snoozed"}).context["items"]) == 1


def test_a_row_says_that_it_is_snoozed_until_the_end_of_its_snooze(operator, work):
    post(operator, work, snooze_hours="4")
    [item] = operator.get(DESK, {"taken": "snoozed"}).context["items"]
    assert "snoozed until" in item.summary

    OperatorNote.objects.update(snoozed_until=timezone.now())
    [item] = operator.get(DESK).context["items"]
    assert "snoozed until" not in item.summary


def test_the_migration_copies_the_newest_note_of_an_orders_fulfillments_to_the_order(operator, nina, work):
    post(nina, work, take="1", text="Asked the retailer")
    OperatorNote.objects.update(model="fulfillments.fulfillment", record_id=work.pk)
    migration = import_module("backoffice.migrations.0004_notes_of_orders").Migration

    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(migration.operations[0].sql)

    [item] = operator.get(DESK).context["items"]
    assert (item.note.assigned_to, item.note.text) == ("nina", "Asked the retailer")
