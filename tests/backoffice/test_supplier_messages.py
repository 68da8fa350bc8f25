"""Messages to a supplier about a file: they are stored in its upload area, and mailed if possible."""

from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import connection

from events.models import Event
from imports.models import Status
from tests.backoffice.conftest import do, messages
from tests.factories import DigestFactory, ImportJobFactory
from tests.upload_area import area_of


@pytest.fixture
def job(acme):
    fault = {"code": "no_header", "message": "It has no header."}
    return ImportJobFactory.create(
        supplier=acme, source="products/spring.csv", status=Status.FAILED, error=fault
    )


@pytest.fixture
def mail_server(settings):
    settings.EMAIL_URL = "smtp://mail.example.com"


def form_of(operator, job):
    return operator.get(f"/admin/imports/importjob/{job.pk}/do/message/").text


def left(acme):
    return [path.read_text() for path in area_of(acme).files() if path.name.endswith(".message.txt")]


def test_a_message_is_stored_and_mailed_to_the_suppliers_digest_address(
    operator, job, acme, mail_server, mailoutbox
):
    DigestFactory.create(supplier=acme, address="desk@acme.example")
    assert 'value="desk@acme.example"' in form_of(operator, job)

    said = messages(do(operator, job, "message", text="Hello Acme", mail_to="desk@acme.example"))

    assert said[0].startswith("Acme finds the message as reports/")
    assert said[0].endswith("It was also mailed to desk@acme.example.")
    [mail] = mailoutbox
    assert (mail.to, mail.body) == (["desk@acme.example"], "Hello Acme")
    assert mail.subject == f"Import {job.pk} of products/spring.csv"
    assert left(acme) == ["Hello Acme"]


def test_without_an_address_the_message_is_only_stored(operator, job, acme, mail_server, mailoutbox):
    do(operator, job, "message", text="Hello Acme", mail_to="")
    assert (left(acme), mailoutbox) == (["Hello Acme"], [])


def test_without_a_mail_server_the_form_has_no_address(operator, job, acme, mailoutbox):
    page = form_of(operator, job)
    assert "mail_to" not in page
    assert "mailto:" in page
    do(operator, job, "message", text="Hello Acme", mail_to="desk@acme.example")
    assert (left(acme), mailoutbox) == (["Hello Acme"], [])


@pytest.mark.django_db(transaction=True)
def test_a_message_that_cannot_be_mailed_is_stored_with_the_reason(
    operator, job, acme, mail_server, monkeypatch
):
    def refuse(*_, **__):
        assert not connection.in_atomic_block  # otherwise a slow mail server would keep the transaction open
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("imports.messages.send_mail", refuse)
    said = messages(do(operator, job, "message", text="Hello Acme", mail_to="desk@acme.example"))

    assert "No mail could be sent to desk@acme.example" in said[0]
    assert "Connection refused" in said[0]
    assert left(acme) == ["Hello Acme"]


def test_the_history_and_the_audit_log_keep_each_message_with_its_writer(operator, job):
    for text in ("Hello Acme", "Please send the file again."):
        do(operator, job, "message", text=text, mail_to="")

    entries = operator.get(f"/admin/imports/importjob/{job.pk}/change/").context["entries"]
    assert [(entry.title, entry.by, dict(entry.details)["text"]) for entry in entries] == [
        ("Import message sent", "olga", "Hello Acme"),
        ("Import message sent", "olga", "Please send the file again."),
    ]
    logged = operator.get("/admin/activity/").context["entries"]
    assert [(entry.person, entry.on) for entry in logged] == [("olga", f"import {job.pk}")] * 2


def test_the_history_names_the_address_of_a_mail_only_if_it_was_sent(
    operator, job, mail_server, mailoutbox, monkeypatch
):
    do(operator, job, "message", text="Hello Acme", mail_to="desk@acme.example")
    monkeypatch.setattr("imports.messages.send_mail", Mock(side_effect=ConnectionRefusedError))
    do(operator, job, "message", text="Hello again", mail_to="desk@acme.example")

    sent, not_sent = Event.objects.filter(import_id=job.pk).order_by("id")
    assert sent.data["mailed_to"] == "desk@acme.example"
    assert "mailed_to" not in not_sent.data


def test_a_form_that_is_sent_again_while_its_mail_is_sent_mails_once(operator, job, mail_server, monkeypatch):
    form = {"text": "Hello Acme", "mail_to": "desk@acme.example", "form_id": str(uuid4())}
    mails, answers = [], []

    def send_slowly(_subject, text, *_):
        mails.append(text)
        if len(mails) == 1:
            answers.extend(messages(do(operator, job, "message", **form)))

    monkeypatch.setattr("imports.messages.send_mail", send_slowly)
    said = messages(do(operator, job, "message", **form))

    assert mails == ["Hello Acme"]
    assert said[-1].endswith("It was also mailed to desk@acme.example.")
    assert answers[0].startswith("This form was already sent, and was done only once: It has not ended yet.")
    assert messages(do(operator, job, "message", **form))[0].startswith("This form was already sent")


def test_a_form_whose_message_could_not_be_stored_is_sent_again(operator, job, acme, monkeypatch):
    form = {"text": "Hello Acme", "form_id": str(uuid4())}
    with monkeypatch.context() as broken:
        broken.setattr("imports.messages.leave", Mock(side_effect=OSError(5, "Input/output error")))
        assert "could not be stored" in messages(do(operator, job, "message", **form))[0]

    do(operator, job, "message", **form)
    assert left(acme) == ["Hello Acme"]
