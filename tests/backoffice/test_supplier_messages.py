"""Messages to a supplier about a file: they are stored in its upload area, and mailed if possible."""

import pytest
from django.db import connection

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
