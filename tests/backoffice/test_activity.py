"""The audit log: entries from all sources, on pages, with filters by person, day and object."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.operating.admin_actions import RecordAdmin
from api.cursors import write_cursor
from backoffice.activity import WITHOUT_EVENTS
from catalog.admin import VariantAdmin
from events.admin_base import RecordedAdmin
from events.models import Event
from orders.models import Order
from sftp_ingest.admin import CredentialsAdmin
from tests.backoffice.conftest import choose, confirm, do
from tests.backoffice.test_stale_forms import fields_of
from tests.factories import (
    ContactFactory,
    ContactMessageFactory,
    MemberFactory,
    OperatorActionFactory,
    OrderFactory,
    RoutingSimulationFactory,
    ServicePartFactory,
    StaffFactory,
)

PAGE = "/admin/activity/"


def shown(client, **asked):
    page = client.get(PAGE, asked)
    assert page.status_code == 200
    return [(entry.person, entry.what.split()[0], entry.on) for entry in page.context["entries"]]


def test_the_log_shows_actor_action_object_and_reason(operator, order):
    do(operator, order, "hold", reason="Looks like fraud")

    assert shown(operator) == [("olga", "order.held", f"order {order.pk}")]
    assert "Looks like fraud" in operator.get(PAGE).text


@pytest.mark.parametrize("table", ["events_event", "accounts_operatoraction"])
def test_the_newest_entries_are_read_by_an_index(operator, table):
    with CaptureQueriesContext(connection) as asked:
        operator.get(PAGE)

    [statement] = [
        each["sql"] for each in asked if each["sql"].partition(" FROM ")[2].startswith(f'"{table}" ')
    ]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET enable_sort; RESET enable_seqscan")
    assert "Sort" not in plan, plan


def test_the_log_has_no_actions_of_partners(operator, order, client_for, acme):
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/accepted")
    assert shown(operator) == []


def test_the_log_has_no_actions_of_members_on_many_records(operator, acme):
    member = MemberFactory.create(supplier=acme)
    for actor in (f"member:{member.pk}", "user:olga"):
        OperatorActionFactory.create(actor=actor, total=2, confirmed_at=timezone.now())

    assert shown(operator) == [("olga", "Hold", "2 orders")]


def test_a_record_of_a_kind_that_the_log_does_not_know_is_not_an_order(operator, order):
    do(operator, order, "hold")

    assert len(shown(operator, about=f"order:{order.pk}")) == 1
    assert shown(operator, about=f"supplier:{order.pk}") == []


def test_an_action_on_many_leads_to_its_results(operator, shop):
    OrderFactory.create_in_bulk(2, retailer=shop)
    confirm(operator, choose(operator, Order, "hold", list(Order.objects.all())))

    assert shown(operator) == [("olga", "Hold", "2 orders")]
    assert shown(operator, about=f"order:{Order.objects.latest('pk').pk}") == [("olga", "Hold", "2 orders")]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"person": "olga"}, 1),
        ({"person": "sam"}, 0),
        ({"about": "{order}"}, 1),
        ({"about": "order:{order}"}, 1),
        ({"about": "fulfillment:{order}"}, 0),
        ({"about": "import:{order}"}, 0),
        ({"since": "{today}", "until": "{today}"}, 1),
        ({"until": "{yesterday}"}, 0),
        ({"since": "nonsense", "after": "nonsense"}, 1),
        ({"after": write_cursor("2026-01-01T00:00:00+00:00", {"event": math.inf})}, 1),
        ({"after": write_cursor("2026-01-01T00:00:00", {})}, 1),
    ],
)
def test_the_log_can_be_filtered(operator, order, asked, found):
    do(operator, order, "hold")
    today = datetime.now(UTC).date()
    names = {"order": order.pk, "today": today, "yesterday": today - timedelta(days=1)}
    assert len(shown(operator, **{name: text.format(**names) for name, text in asked.items()})) == found


def test_the_pages_together_have_each_entry_once(operator, order, monkeypatch):
    monkeypatch.setattr("backoffice.activity.PAGE", 2)
    for _ in range(3):
        do(operator, order, "hold")
        do(operator, order, "release")
    Event.objects.filter(type="order.held").update(occurred_at=datetime.now(UTC))  # all with the same time

    seen, query = [], ""
    while True:
        page = operator.get(f"{PAGE}?{query}")
        seen += [entry.id for entry in page.context["entries"]]
        query = page.context["next"]
        if not query:
            break
    acts = Event.objects.filter(actor="user:olga", type__in=["order.held", "order.released"])
    assert sorted(seen) == sorted(acts.values_list("pk", flat=True))
    assert len(seen) == len(set(seen)) == 6


def test_more_entries_cost_no_more_queries(operator, order, django_assert_max_num_queries):
    def asked():
        with django_assert_max_num_queries(15) as statements:
            operator.get(PAGE)
        return len(statements)

    asked()
    do(operator, order, "hold")
    few = asked()
    for _ in range(3):
        do(operator, order, "release")
        do(operator, order, "hold")
    assert asked() == few


def test_a_suspension_stays_in_the_log_if_it_also_reassigns_open_work(operator, acme, shop, order, pushed):
    pushed(shop, {"sku": "LAN-1", "quantity": 1})
    sent = {"reason": "They moved out", "until": "", "open_work": "new"}
    preview = operator.post(f"/admin/accounts/supplier/{acme.pk}/suspend/", sent, follow=True)
    confirm(operator, preview)

    assert shown(operator) == [
        ("olga", "Reassign", "2 fulfillments"),
        ("olga", "trade.suspended", "Acme"),
        ("olga", "supplier.suspended", "Acme"),
    ]
    assert "They moved out" in operator.get(PAGE).text


def test_a_change_by_a_form_is_listed_once(operator, admin_client, acme):
    path = "/admin/accounts/supplier/"
    operator.post(f"{path}{acme.pk}/change/", fields_of(operator, f"{path}{acme.pk}/change/") | {"name": "A"})
    operator.post("/admin/accounts/contact/add/", {"supplier": acme.pk, "name": "Ana"})
    operator.post("/admin/backoffice/messagetemplate/add/", {"name": "X", "subject": "S", "text": "T"})

    assert [what for _, what, _ in shown(operator)] == ["Added.", "contact.created", "supplier.updated"]


def test_every_form_of_the_admin_has_an_event_or_an_entry_of_the_log(rf, db):
    request = rf.get("/")
    request.user = User(is_superuser=True, is_staff=True, is_active=True)
    # The pages of a RecordAdmin have no form of Django: their actions record events.
    recorded = (RecordedAdmin, CredentialsAdmin, VariantAdmin, RecordAdmin)
    silent = {
        model
        for model, pages in site._registry.items()
        if not isinstance(pages, recorded)
        and (pages.has_change_permission(request) or pages.has_add_permission(request))
    }

    assert silent == {*WITHOUT_EVENTS}


def test_operators_are_deactivated_instead_of_deleted_because_the_log_names_them(admin_client):
    rita = StaffFactory.create(username="rita", is_superuser=True)
    browser = Client()
    browser.force_login(rita)
    browser.post("/admin/auth/group/add/", {"name": "Night shift"})
    path = f"/admin/auth/user/{rita.pk}/"

    assert admin_client.post(f"{path}delete/", {"post": "yes"}).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": [rita.pk], "post": "yes"}
    admin_client.post("/admin/auth/user/", sent)

    assert User.objects.filter(pk=rita.pk).exists()
    assert "deletelink" not in admin_client.get(f"{path}change/").text
    assert [(person, on) for person, _, on in shown(admin_client)] == [("rita", "Night shift")]


@pytest.fixture
def single_records(acme):
    """Return a record for each of the actions that change no partner's data, by the action's name."""
    contact = ContactFactory.create(supplier=acme)
    return {
        "taken-away": ServicePartFactory.create(host="web-1"),
        "read": ContactMessageFactory.create(contact=contact, is_answer=True, by="member:1"),
        "stop": RoutingSimulationFactory.create(supplier=acme),
    }


@pytest.mark.parametrize(
    ("action", "what", "on"),
    [
        ("taken-away", "service_part.removed part ticker on web-1", ""),
        ("read", "contact_message.read about order 1; answers 1", "Acme"),
        ("stop", "routing_simulation.stopped simulation {pk}", "Acme"),
    ],
)
def test_an_action_that_concerns_only_operators_is_in_the_log_with_its_reason(
    operator, single_records, action, what, on
):
    record = single_records[action]
    do(operator, record, action, reason="The host was scrapped")

    [entry] = operator.get(PAGE).context["entries"]
    assert (entry.person, entry.what, entry.on) == ("olga", what.format(pk=record.pk), on)
    assert entry.why == ("The host was scrapped" if action == "taken-away" else "")
