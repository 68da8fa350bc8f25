"""Comments can be written on the page of each record. The timeline shows them between the events."""

import pytest

from backoffice.models import RecordComment
from imports.models import Status
from orders.models import Order
from tests.backoffice.conftest import do, messages
from tests.factories import ImportJobFactory


def page_of(record) -> str:
    meta = record._meta
    return f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/change/"


def add(client, record, text, **fields):
    url = page_of(record).replace("change/", "comment/")
    return client.post(url, {"text": text, **fields}, follow=True)


def test_a_comment_is_shown_between_the_events_of_an_order(operator, order):
    assert messages(add(operator, order, "Asked Acme\nfor a date")) == ["Comment added."]
    do(operator, order, "hold")

    page = operator.get(page_of(order))
    shown = [(entry.title, entry.by, entry.text) for entry in page.context["entries"]]
    place = shown.index(("Comment", "olga", "Asked Acme\nfor a date"))
    assert 0 < place < len(shown) - 1
    assert "Asked Acme<br>for a date" in page.text


def test_the_order_shows_comments_on_its_fulfillments(operator, order, fulfillment):
    add(operator, fulfillment, "The parcel is lost")
    [entry] = [each for each in operator.get(page_of(order)).context["entries"] if each.text]
    assert (entry.text, entry.fulfillment_id) == ("The parcel is lost", fulfillment.pk)


@pytest.fixture
def commented(acme, a_variant):
    return [
        acme,
        a_variant(acme, "LAN-1", stock=1),
        ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL),
    ]


def test_records_that_do_not_wait_have_comments_too(operator, commented):
    for record in commented:
        page = add(operator, record, f"About {record.pk}")
        assert page.status_code == 200
        assert f"About {record.pk}" in page.text


def test_an_empty_comment_is_refused_with_the_remedy(operator, order):
    assert messages(add(operator, order, " ")) == [
        "The comment is empty. Write a text, then press Add comment."
    ]


def test_support_reads_comments_and_writes_none(operator, support, order):
    add(operator, order, "Asked Acme")
    page = support.get(page_of(order)).text
    assert "Asked Acme" in page
    assert "Add comment" not in page
    assert add(support, order, "Me too").status_code == 403
    assert RecordComment.objects.count() == 1


@pytest.mark.parametrize("path", ["orders/order/999", "orders/nonsense/1", "sessions/session/1"])
def test_a_comment_on_no_record_is_not_found(operator, path):
    assert operator.post(f"/admin/{path}/comment/", {"text": "x"}).status_code == 404


def test_a_comment_leads_back_to_its_page(operator, order):
    desk = "/admin/desk/?kind=held"
    assert add(operator, order, "x", next=desk).redirect_chain[0][0] == desk
    assert add(operator, order, "x", next="//evil.example/").redirect_chain[0][0] == page_of(order)
    assert Order.objects.count() == 1
