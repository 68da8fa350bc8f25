"""Unique markers in the texts of a party never reach another party in pages, files, mails or errors.

A marker names the parties that may see it: `mkACMEzSHOPkm` is for Acme and Shop. It has only letters, so
that no page changes it. A marker without a party is for operators only.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import (
    Contact,
    MailFrequency,
    Member,
    Partnership,
)
from events.models import Event
from fulfillments.models import Fulfillment
from imports.models import Status
from orders.models import Order
from portal.notifications.sending import send_due
from portal.notifications.topics import TOPICS
from portal.pages import PortalRecordPage
from tests.client import ApiClient
from tests.factories import (
    AutoImportFactory,
    ContactFactory,
    ContactMessageFactory,
    ImportDraftFactory,
    ImportJobFactory,
    InvitationFactory,
    IssuedKeyFactory,
    MailSubscriptionFactory,
    RecordCommentFactory,
    RejectFactory,
    SavedMappingFactory,
    SavedViewFactory,
    SuspensionFactory,
    WebhookFactory,
)
from tests.orders.push_bodies import ADDRESS, an_order
from tests.portal.conftest import browser_of
from tests.portal.test_tenancy import PAGES, paths, records_of

MARKER = re.compile(r"mk([A-Za-z]*?)km")


def mark(*parties: Any) -> str:
    return f"mk{'z'.join(str(party).upper() for party in parties)}km"


def seen_in(text: str) -> set[tuple[str, ...]]:
    """Return the parties of each marker in a text. Some fields store markers in lower case."""
    return {tuple(found.upper().split("Z")) for found in MARKER.findall(text)}


@pytest.fixture
def parties(acme, rival, shop, boutique):
    """Return the parties by name. Shop trades with both suppliers, and Boutique only with Rival."""
    return {str(party).upper(): party for party in (acme, rival, shop, boutique)}


@pytest.fixture
def members(parties, member_of) -> dict[str, Member]:
    return {
        name: member_of(
            party, user__first_name=f"Ana {mark(party)}", user__username=f"{mark(party)}@x.example"
        )
        for name, party in parties.items()
    }


def products(supplier, *retailers, a_variant) -> str:
    """Make a product whose strings its supplier and its retailers see, and return its sku."""
    text = mark(supplier, *retailers)
    a_variant(supplier, text, stock=50, title=f"Lamp {text}", wholesale_price="3", group=text)
    return text


def trade(client_for, retailer, suppliers, skus, changes: Any) -> Order:
    """Push an order for these suppliers' products, and call `changes` for each of its fulfillments."""
    seen = mark(retailer, *suppliers)
    body = an_order(
        *({"sku": sku, "quantity": 2} for sku in skus),
        retailer_order_id=f"{Order.objects.count()}-{seen}",
        shipping_address={**ADDRESS, "first_name": seen, "address1": f"1 {seen} street", "city": seen},
    )
    answer = client_for(retailer).post("orders", body)
    assert answer.status_code == 201, answer.content
    order = Order.objects.get(pk=answer.json()["order_id"])
    for part in order.fulfillments.all():
        api: ApiClient = client_for(part.supplier)
        own = mark(retailer, part.supplier)
        changes(api, part, own)
    return order


def shipped(api, part, own) -> None:
    path = f"fulfillments/{part.pk}/setStatus"
    assert api.put(f"{path}/accepted").status_code == 200
    assert api.put(f"{path}/shipped", {"tracking_number": f"NO{own}", "carrier": own}).status_code == 200
    body = {"return_lines": [{"sku": part.lines.get().sku, "quantity": 1}], "reason": own, "return_id": own}
    answer = api.post(f"fulfillments/{part.pk}/returns", body)
    assert answer.status_code < 300, answer.content


def left_open(api, part, own) -> None:
    """Do nothing, so that the fulfillment stays open."""


@pytest.fixture
def market(acme, rival, shop, boutique, parties, members, a_variant, client_for):
    """Plant a marker in each string that a party or an operator may write."""
    by_acme = products(acme, shop, a_variant=a_variant)
    by_rival = products(rival, shop, boutique, a_variant=a_variant)
    for changes in (shipped, left_open):
        trade(client_for, shop, (acme, rival), (by_acme, by_rival), changes)
        trade(client_for, boutique, (rival,), (by_rival,), changes)
    Partnership.objects.update(hours_to_accept=1)
    for party in parties.values():
        own = mark(party)
        plant_of_party(party, own, members[str(party).upper()])
    for supplier in (acme, rival):
        plant_of_supplier(supplier, mark(supplier))
    for order in Order.objects.all():
        RecordCommentFactory.create(model="orders.order", record_id=order.pk, text=mark(), by=mark())
    Event.publish()


def plant_of_party(party: Any, own: str, member: Member) -> None:
    side = {party.role.value: party}
    InvitationFactory.create(party=party, email=f"{own}@x.example")
    IssuedKeyFactory.create(party=party, name=f"Key {own}")
    WebhookFactory.create(**{"retailer": None, **side}, url=f"https://{own.lower()}.example/{own}")
    contact = ContactFactory.create(**side, name=f"Contact {own}")
    message_to(contact, own)
    SavedViewFactory.create(
        owner=member.user, model=f"portal.{party.role}.orders", name=own, query="", shared=True, **side
    )
    SuspensionFactory.create(**side, reason=mark(), shown_reason=own, started_by=mark())


def message_to(contact: Contact, own: str) -> None:
    for record in (*Order.objects.all(), *Fulfillment.objects.all()):
        label = record._meta.label_lower
        ContactMessageFactory.create(
            model=label, record_id=record.pk, contact=contact, subject=own, text=own, by=mark()
        )


def plant_of_supplier(supplier: Any, own: str) -> None:
    for status in (Status.FAILED, Status.SUCCEEDED_WITH_ERRORS):
        job = ImportJobFactory.create(
            supplier=supplier,
            source=f"products/{own}.csv",
            status=status,
            rejected=1,
            error={"code": "unreadable", "message": own},
        )
        RejectFactory.create(job=job, message=own)
    ImportDraftFactory.create(supplier=supplier, name=f"{own}.csv")
    SavedMappingFactory.create(supplier=supplier, name=own.lower())
    AutoImportFactory.create(supplier=supplier)


def own_paths(member: Member) -> Iterator[str]:
    """Yield the paths of all pages and files of the member's side, with each record of the member's party."""
    for name, page, has_record in PAGES:
        if member.party.role not in page.sides:
            continue
        if not has_record:
            yield from paths(name, page)
            continue
        assert issubclass(page, PortalRecordPage)
        for record in records_of(page, member):
            yield from paths(name, page, record.pk)
    lists = ("orders", "products", "stock", "returns", "messages", "purchases", "catalog", "performance")
    for path in lists:
        for more in ("?tab=all", "?tab=all&file=csv", "?tab=all&file=xlsx"):
            yield f"/portal/{path}/{more}"


def text_of(answer: Any) -> str:
    """Return the text of a page, of a CSV file, or of the parts of a workbook."""
    content = answer.getvalue()
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            return " ".join(parts.read(part).decode() for part in parts.namelist())
    return str(content, errors="replace")


@pytest.mark.parametrize("name", ["ACME", "RIVAL", "SHOP", "BOUTIQUE"])
def test_pages_and_files_hold_only_markers_of_the_reader(market, members, name):
    client = browser_of(members[name])
    shown: set[tuple[str, ...]] = set()
    for path in own_paths(members[name]):
        found = seen_in(text_of(client.get(path)))
        foreign = {each for each in found if name not in each}
        assert not foreign, f"{path} shows {foreign} to {name}"
        shown |= found
    assert (name,) in shown
    assert len(shown) >= 3, shown  # control: the pages show planted texts of their own party


@pytest.mark.parametrize("name", ["ACME", "RIVAL", "SHOP", "BOUTIQUE"])
def test_mails_hold_only_markers_of_the_receiver(market, members, name, settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    member = members[name]
    topics = [topic.name for topic in TOPICS if topic.side == member.party.role]
    now = Fulfillment.objects.order_by("pk")[0].created_at
    MailSubscriptionFactory.create(
        member=member, frequency=MailFrequency.AT_ONCE, topics=topics, after=0, checked_at=now
    )
    send_due()
    texts = [f"{each.subject} {each.body} {each.to}" for each in mail.outbox]
    assert {each for text in texts for each in seen_in(text) if name not in each} == set()


def test_an_error_names_nothing_of_a_foreign_record(market, members, rival):
    """Quick ship and actions get the ids of Rival's orders from Acme."""
    client: Client = browser_of(members["ACME"])
    rows = "\n".join(f"#{work.pk}\tPARCEL-{work.pk}" for work in Fulfillment.objects.filter(supplier=rival))
    checked = client.post("/portal/quick-ship/", {"rows": rows}).text
    assert "You have no order with this number." in checked
    assert {each for each in seen_in(checked) if "ACME" not in each} == set()
