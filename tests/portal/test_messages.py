"""Operators write to a party; its members read, answer and close the messages in the portal."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from accounts.member_roles import MemberRole
from accounts.models import Contact, ContactMessage
from backoffice.groups import DESKS, SUPPORT
from events.models import Event
from tests.backoffice.conftest import choose, confirm, do, messages
from tests.factories import ContactFactory, ContactMessageFactory, StaffFactory
from tests.portal.conftest import act, browser_of, said

LIST = "/portal/messages/"


@pytest.fixture
def anna(acme) -> Contact:
    return ContactFactory.create(supplier=acme, name="Anna Berg", email="anna@acme.example")


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10)
    return pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()


def write(operator: Any, record: Any, contact: Contact, *, answer: bool = False, **fields: Any) -> Any:
    """Write to a contact on the page of a record as an operator, or record the contact's answer.

    Return the next page.
    """
    sent = {"contact": contact.pk, "subject": "A date?", "text": "Hello Anna", "form_id": uuid4(), **fields}
    path = f"/admin/{record._meta.app_label}/{record._meta.model_name}/{record.pk}/message/"
    return operator.post(f"{path}{'?answer=1' if answer else ''}", sent, follow=True)


@pytest.fixture
def message(operator, work, anna) -> ContactMessage:
    write(operator, work, anna)
    return ContactMessage.objects.get()


def bucket(client, name="Messages from operators"):
    [found] = [each for each in client.get("/portal/").context["buckets"] if each.name == name]
    return found


def unread(operator: Client) -> list[ContactMessage]:
    """Return the answers that the desk lists as unread."""
    items = operator.get("/admin/desk/").context["items"]
    return [item.record for item in items if item.kind.name == "answer"]


def shown(client, path=LIST) -> list[str]:
    return [str(row) for row, _ in client.get(path).context["rows"]]


def test_today_counts_a_message_until_it_is_answered_and_the_operators_read_the_answer(
    ana, owner, operator, work, message
):
    assert (bucket(ana).count, bucket(ana).url, shown(ana)) == ("1", LIST, ["A date?"])
    page = ana.get(f"{LIST}{message.pk}/")
    assert "Hello Anna" in page.text
    assert f'href="/portal/orders/{work.pk}/"' in page.text
    assert "olga" not in page.text

    answered = act(ana, f"{LIST}{message.pk}/do/answer/", text="On <b>Monday</b>")

    assert said(answered) == ["Your answer was sent to the operators."]
    assert "On &lt;b&gt;Monday&lt;/b&gt;" in answered.text
    assert (bucket(ana).count, shown(ana), shown(ana, f"{LIST}?tab=all")) == ("0", [], ["A date?"])
    timeline = operator.get(f"/admin/fulfillments/fulfillment/{work.pk}/change/").context["entries"]
    [answer] = [entry for entry in timeline if entry.text == "On <b>Monday</b>"]
    assert (answer.title, answer.by) == (
        "Answer in the portal to the message to Anna Berg (Acme)",
        str(owner),
    )


def test_an_answer_waits_on_the_desk_until_an_operator_writes_back_or_has_read_it(
    ana, operator, work, anna, message
):
    act(ana, f"{LIST}{message.pk}/do/answer/", text="On <b>Monday</b>")
    act(ana, f"{LIST}{message.pk}/do/answer/", text="Or on Tuesday")
    answers = unread(operator)
    assert [str(answer) for answer in answers] == ["On <b>Monday</b>", "Or on Tuesday"]
    page = operator.get(f"/admin/accounts/contactmessage/{answers[0].pk}/change/").text
    assert "Hello Anna" in page
    assert "On &lt;b&gt;Monday&lt;/b&gt;" in page
    assert f"/admin/fulfillments/fulfillment/{work.pk}/change/" in page

    done = do(operator, answers[0], "read")
    assert messages(done) == ["2 answers are marked as read."]
    assert unread(operator) == []
    assert "An operator has read this answer." in do(operator, answers[1], "read").text

    act(ana, f"{LIST}{message.pk}/do/answer/", text="Wednesday")
    assert len(unread(operator)) == 1
    write(operator, work, anna, text="Thank you")
    assert unread(operator) == []


@pytest.mark.parametrize("reaction", ["read", "write"])
def test_an_answer_that_arrives_while_an_operator_reacts_to_an_earlier_one_stays_unread(
    ana, operator, work, anna, message, reaction
):
    act(ana, f"{LIST}{message.pk}/do/answer/", text="On Monday")
    [answer] = unread(operator)
    pages = {
        "read": f"/admin/accounts/contactmessage/{answer.pk}/do/read/",
        "write": f"/admin/fulfillments/fulfillment/{work.pk}/message/",
    }
    page = operator.get(pages[reaction])
    newest = page.context["form"]["newest"].value()
    assert f'name="newest" value="{newest}"' in page.text
    act(ana, f"{LIST}{message.pk}/do/answer/", text="No, on Tuesday")

    sent = {"contact": anna.pk, "subject": "Re", "text": "Thank you", "form_id": uuid4(), "newest": newest}
    assert operator.post(pages[reaction], sent).status_code == 302

    assert [str(answer) for answer in unread(operator)] == ["No, on Tuesday"]


def test_several_answers_of_a_party_are_marked_as_read_once(ana, operator, message):
    for text in ("On Monday", "Or on Tuesday"):
        act(ana, f"{LIST}{message.pk}/do/answer/", text=text)

    page = confirm(operator, choose(operator, ContactMessage, "read", unread(operator)))

    assert "1 done; 1 already done." in page.text
    assert Event.objects.get(type="contact_message.read").data["answers"] == 2


def test_an_answer_that_an_operator_recorded_does_not_wait_on_the_desk(operator, work, anna, message):
    write(operator, work, anna, answer=True, text="They called: Monday")
    assert unread(operator) == []


@pytest.mark.parametrize("group", [*DESKS, SUPPORT])
def test_every_operator_may_mark_an_answer_as_read_and_support_may_only_read_it(group, ana, message):
    act(ana, f"{LIST}{message.pk}/do/answer/", text="On Monday")
    answer = ContactMessage.objects.get(is_answer=True)
    client = Client()
    client.force_login(StaffFactory.create(username="kim", group=group))
    assert client.get(f"/admin/accounts/contactmessage/{answer.pk}/change/").status_code == 200
    status = do(client, answer, "read").status_code
    assert status == (403 if group == SUPPORT else 200)


def test_a_message_leaves_today_without_an_answer_and_can_be_answered_later(ana, message):
    done = act(ana, f"{LIST}{message.pk}/do/done/")
    assert said(done) == ["The message is done."]
    assert bucket(ana).count == "0"
    assert "already done" in ana.get(f"{LIST}{message.pk}/do/done/").text

    act(ana, f"{LIST}{message.pk}/do/answer/", text="One more thing")
    assert ContactMessage.objects.get(is_answer=True).text == "One more thing"


def test_an_answer_that_an_operator_records_closes_the_message(ana, operator, work, anna, message):
    write(operator, work, anna, answer=True, text="They called: Monday")

    assert bucket(ana).count == "0"
    page = ana.get(f"{LIST}{message.pk}/").text
    assert "They called: Monday" in page
    assert "by Anna Berg" in page


def test_an_answer_that_is_sent_twice_is_stored_once(ana, message):
    for_both = {"form_id": uuid4(), "text": "On Monday"}
    for _ in range(2):
        ana.post(f"{LIST}{message.pk}/do/answer/", for_both)
    assert ContactMessage.objects.filter(is_answer=True).count() == 1


def test_an_empty_answer_is_refused(ana, message):
    page = act(ana, f"{LIST}{message.pk}/do/answer/", text=" ")
    assert "This field is required" in page.text
    assert bucket(ana).count == "1"


def test_only_the_party_of_the_contact_sees_the_message(sam, message):
    """The order concerns both parties, but the message went to one of them."""
    assert shown(sam, f"{LIST}?tab=all") == []
    assert sam.get(f"{LIST}{message.pk}/").status_code == 404


def test_a_retailer_answers_a_message_about_its_order(sam, operator, shop, work):
    bo = ContactFactory.create(retailer=shop, name="Bo", email="bo@shop.example")
    write(operator, work, bo, subject="Wait for it?")
    message = ContactMessage.objects.get()

    page = sam.get(f"{LIST}{message.pk}/")
    assert f'href="/portal/purchases/{work.order_id}/"' in page.text
    act(sam, f"{LIST}{message.pk}/do/answer/", text="Yes")
    assert bucket(sam).count == "0"


@pytest.mark.parametrize("role", [role for role in MemberRole if role is not MemberRole.VIEWER])
def test_every_role_that_may_change_something_answers(acme, member_of, message, role):
    client = browser_of(member_of(acme, role))
    act(client, f"{LIST}{message.pk}/do/answer/", text="Yes")
    assert bucket(client).count == "0"


def test_a_viewer_reads_without_buttons(acme, member_of, message):
    viewer = browser_of(member_of(acme, MemberRole.VIEWER))
    page = viewer.get(f"{LIST}{message.pk}/").text
    assert "Hello Anna" in page
    assert "/do/answer/" not in page
    refused = viewer.post(f"{LIST}{message.pk}/do/answer/", {"text": "Yes"})
    assert refused.status_code == 403
    assert "the role Orders, Catalog, Developer or Owner" in refused.text


@pytest.mark.parametrize("of_record", ["order", "variant", "level", "foreign", "party"])
def test_a_message_links_to_the_portal_page_of_its_record(
    ana, rival, acme, operator, work, anna, a_variant, of_record
):
    line = work.lines.get()
    subjects: dict[str, tuple[Any, str]] = {
        "order": (work.order, f"/portal/orders/{work.pk}/"),
        "variant": (line.variant, f"/portal/products/{line.variant_id}/"),
        "level": (line.variant.stock.get(), f"/portal/products/{line.variant_id}/"),
        "foreign": (a_variant(rival, "VASE"), ""),
        "party": (acme, ""),
    }
    record, link = subjects[of_record]
    label = record._meta.label_lower
    message = ContactMessageFactory.create(model=label, record_id=record.pk, contact=anna)
    page = ana.get(f"{LIST}{message.pk}/").context["page_about"]
    assert (page[1] if page else "") == link
