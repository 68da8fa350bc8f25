"""Messages of operators to the contacts of a party. Timelines show the messages and the answers."""

import re
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import Contact, ContactMessage
from backoffice import tasks
from events.models import Event
from tests.backoffice.conftest import messages
from tests.factories import ContactFactory, MessageTemplateFactory


@pytest.fixture
def anna(acme) -> Contact:
    return ContactFactory.create(supplier=acme, name="Anna Berg", email="anna@acme.example")


@pytest.fixture
def _mails(settings, monkeypatch):
    """Set a mail server, and send each message at once without a worker."""
    settings.EMAIL_URL = "smtp://localhost"
    monkeypatch.setattr("backoffice.contacts.sending.wake", tasks.send_message)


def page_of(record, page="message") -> str:
    meta = record._meta
    return f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/{page}/"


def write(client, record, contact, *, answer=False, **fields):
    sent = {"contact": contact.pk, "subject": "A date?", "text": "Hello Anna", "form_id": uuid4(), **fields}
    return client.post(f"{page_of(record)}{'?answer=1' if answer else ''}", sent, follow=True)


def entries(client, record) -> list[tuple[str, str]]:
    found = client.get(page_of(record, "change")).context["entries"]
    return [(entry.title, entry.text) for entry in found if entry.text]


@pytest.mark.usefixtures("_mails")
def test_a_message_is_mailed_and_its_answer_recorded(operator, order, fulfillment, anna):
    assert messages(write(operator, fulfillment, anna)) == ["The message to Anna Berg is being sent."]
    [sent] = mail.outbox
    assert (sent.to, sent.subject, sent.body) == (["anna@acme.example"], "A date?", "Hello Anna")

    page = write(operator, fulfillment, anna, answer=True, text="On Monday")
    assert messages(page) == ["The answer of Anna Berg is recorded."]
    shown = [("Message to Anna Berg (Acme)", "Hello Anna"), ("Answer of Anna Berg (Acme)", "On Monday")]
    assert entries(operator, fulfillment) == entries(operator, order) == shown
    assert len(mail.outbox) == 1


@pytest.mark.usefixtures("_mails")
def test_a_form_that_is_sent_twice_is_mailed_once(operator, fulfillment, anna):
    form_id = uuid4()
    for _ in range(2):
        write(operator, fulfillment, anna, form_id=form_id)
    assert len(mail.outbox) == ContactMessage.objects.count() == 1


def test_a_form_that_is_sent_again_with_another_text_keeps_the_new_text(operator, fulfillment, anna):
    form_id = uuid4()
    write(operator, fulfillment, anna, form_id=form_id)

    page = write(operator, fulfillment, anna, form_id=form_id, text="A second question")
    form = page.context["form"]
    assert "This form was already sent with other content." in page.text
    assert form["text"].value() == "A second question"
    assert ContactMessage.objects.count() == 1

    write(operator, fulfillment, anna, form_id=form["form_id"].value(), text="A second question")
    assert ContactMessage.objects.filter(text="A second question").count() == 1


@pytest.mark.usefixtures("_mails")
def test_a_failed_mail_is_tried_again_for_a_day(operator, fulfillment, anna, monkeypatch):
    def failing(*_):
        raise OSError("The mail server is away")

    with monkeypatch.context() as away:
        away.setattr("backoffice.contacts.sending.send_mail", failing)
        write(operator, fulfillment, anna)
    message = ContactMessage.objects.get()
    assert message.next_try_at is not None
    assert "The mail server is away" in operator.get(page_of(fulfillment, "change")).text
    ContactMessage.objects.update(next_try_at=timezone.now())
    tasks.sweep_messages()
    assert len(mail.outbox) == 1

    write(operator, fulfillment, anna)
    ContactMessage.objects.update(
        sent_at=None, next_try_at=timezone.now(), created_at=timezone.now() - timedelta(days=2)
    )
    with monkeypatch.context() as away:
        away.setattr("backoffice.contacts.sending.send_mail", failing)
        tasks.sweep_messages()
    assert not ContactMessage.unfinished()


def test_without_a_mail_server_the_message_is_recorded(operator, fulfillment, anna):
    assert "mailto:?subject=" in operator.get(page_of(fulfillment)).text
    assert messages(write(operator, fulfillment, anna)) == ["The message to Anna Berg is recorded."]
    assert mail.outbox == []
    assert "sent by the operator" in operator.get(page_of(fulfillment, "change")).text


def test_a_template_is_filled_from_the_record(operator, fulfillment, anna):
    template = MessageTemplateFactory.create(
        name="Mine", subject="About {record}", text="Hello {contact} of {party}: {problem}"
    )
    form = operator.get(page_of(fulfillment), {"template": template.pk, "problem": "It is late"}).context[
        "form"
    ]
    number = fulfillment.order.retailer_order_id
    assert form["subject"].value() == f"About fulfillment {fulfillment.pk} of order {number}"
    assert form["text"].value() == "Hello Anna Berg of Acme: It is late"


def test_another_template_is_filled_with_the_same_problem(operator, fulfillment, anna):
    for name in ("First", "Second"):
        MessageTemplateFactory.create(name=name, text="{problem}")
    page = operator.get(page_of(fulfillment), {"problem": "It is late", "next": "/admin/desk/"}).text
    [link] = re.findall(r'<a href="([^"]*)">Second</a>', page)

    other = operator.get(f"{page_of(fulfillment)}{unescape(link)}")

    assert other.context["form"]["text"].value() == "It is late"
    assert other.context["after"] == "/admin/desk/"


def test_the_contact_of_the_most_concerned_party_is_proposed(operator, order, fulfillment, shop, anna):
    """For a fulfillment, the supplier's contacts come first; for an order, the retailer's contacts."""
    zoe = ContactFactory.create(retailer=shop, supplier=None, name="Zoe", email="zoe@shop.example")
    aaron = ContactFactory.create(retailer=shop, supplier=None, name="Aaron", email="aaron@shop.example")

    def proposed(record):
        return operator.get(page_of(record)).context["contacts"]

    assert [*proposed(fulfillment)] == [anna, aaron, zoe]
    assert [*proposed(order)] == [aaron, zoe, anna]


def test_a_template_with_an_unknown_name_is_refused(operator):
    page = operator.post(
        "/admin/backoffice/messagetemplate/add/", {"name": "X", "subject": "{ordre}", "text": "x"}
    )
    assert "{ordre} is unknown. Use one of: {contact}, {party}, {record}, {problem}." in page.text


def test_without_contacts_the_page_leads_to_the_form_of_a_contact(operator, fulfillment, acme):
    page = operator.get(page_of(fulfillment)).text
    assert f"/admin/accounts/contact/add/?supplier={acme.pk}" in page


@pytest.mark.usefixtures("_mails")
def test_a_contact_without_an_address_is_refused_with_the_remedy(operator, fulfillment, anna):
    Contact.objects.update(email="")
    page = write(operator, fulfillment, anna)
    assert "Anna Berg has no mail address. Add one on the page of Acme." in page.text
    assert not ContactMessage.objects.exists()


def test_the_page_of_a_party_has_its_contacts(operator, acme, anna):
    sent = {"supplier": acme.pk, "name": "Ben", "job": "", "email": "", "telephone": "call me"}
    assert "Write digits, such as +44" in operator.post("/admin/accounts/contact/add/", sent).text
    operator.post("/admin/accounts/contact/add/", sent | {"telephone": "030 77"})
    page = operator.get(f"/admin/accounts/supplier/{acme.pk}/team/").text
    assert "Anna Berg" in page
    assert 'href="tel:03077"' in page
    event = Event.objects.get(type="contact.created")
    assert "Ben" not in str(event.data)


def test_a_contact_that_is_saved_without_changes_has_no_new_event(operator, anna):
    path = f"/admin/accounts/contact/{anna.pk}/change/"
    sent = {"name": anna.name, "job": anna.job, "email": anna.email, "telephone": anna.telephone}

    page = operator.post(path, sent, follow=True)
    assert messages(page) == ["Nothing was changed: the form has no new values."]
    assert not Event.objects.exists()

    operator.post(path, sent | {"job": "Buyer"})
    anna.refresh_from_db()
    assert (anna.job, Event.objects.get().data["fields"]) == ("Buyer", ["job"])


def test_a_message_to_a_deleted_contact_shows_no_name(operator, fulfillment, anna):
    write(operator, fulfillment, anna)
    anna.delete()
    assert entries(operator, fulfillment) == [("Message to a deleted contact", "Hello Anna")]


def test_support_writes_no_message(support, fulfillment, anna):
    assert write(support, fulfillment, anna).status_code == 403
    assert "Write message" not in support.get(page_of(fulfillment, "change")).text


def test_a_late_supplier_is_asked_in_two_clicks_from_home(operator, fulfillment, anna):
    MessageTemplateFactory.create(name="A date", subject="About {record}", text="Hello {contact}")
    type(fulfillment).objects.update(due_at=timezone.now() - timedelta(hours=1))
    home = operator.get("/admin/").text
    link = home.partition(page_of(fulfillment))[2].partition('"')[0].replace("&amp;", "&")
    assert home.count(page_of(fulfillment)) == 1
    form = operator.get(f"{page_of(fulfillment)}{link}").context["form"]  # the first click
    fields = {name: form[name].value() for name in form.fields}
    page = operator.post(f"{page_of(fulfillment)}{link}", fields, follow=True)  # the second click
    assert page.request["PATH_INFO"] == "/admin/"
    assert ContactMessage.objects.count() == 1


def test_a_template_that_does_not_exist_is_ignored(operator, order):
    for number in ("0", "9" * 5_000, "x"):
        assert operator.get(page_of(order), {"template": number}).status_code == 200
