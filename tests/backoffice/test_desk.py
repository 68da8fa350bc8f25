"""The desk lists all work that waits for a person, each order once, by deadline and amount."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from accounts.models import OperatorNote
from events.models import Event
from fulfillments.models import Fulfillment
from imports.models import ImportJob, Status
from inventory.models import StockLevel, Warehouse
from orders.models import Order, OrderLine
from tests.backoffice.conftest import do, messages
from tests.factories import ImportJobFactory, set_stock

DESK = "/admin/desk/"


def rows(client, **asked):
    page = client.get(DESK, asked)
    assert page.status_code == 200
    return page.context["items"]


def kinds(client, **asked):
    return [item.kind.name for item in rows(client, **asked)]


@pytest.fixture
def refused_address(order, fulfillment, client_for, acme):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    return order


def test_nothing_waits_on_a_quiet_day(operator, order):
    assert rows(operator) == []
    assert "No open work" in operator.get(DESK).text


def test_a_wrong_address_shows_the_address_and_links_to_the_correction(operator, refused_address):
    [item] = rows(operator)

    assert item.kind.name == "address"
    assert refused_address.shipping_address["address1"] in item.problem
    assert item.parties == "Acme for Shop"
    assert all(operator.get(url).status_code == 200 for _, url in item.actions)


def test_unrouted_units_show_the_items_and_the_amount(operator, acme, shop, a_variant, pushed, client_for):
    a_variant(acme, "LAN-1", stock=10, wholesale_price="7.5")
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2})
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/out_of_stock")

    [item] = rows(operator)
    assert (item.kind.name, item.problem, item.money) == (
        "refused",
        "Refused by all suppliers: 2 × LAN-1",
        [(15, "USD")],
    )


def test_units_refused_for_the_address_are_under_the_address_and_not_under_refused_by_all(
    operator, acme, shop, a_variant, pushed, client_for
):
    for sku in ("LAN-1", "LAN-2"):
        a_variant(acme, sku, stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 3}, {"sku": "LAN-2", "quantity": 1})

    def refuse(number, sku, reason):
        items = [{"sku": sku, "quantity": 1}]
        element = {"id": order.fulfillments.get().pk, "rejectId": number, "reason": reason, "items": items}
        assert client_for(acme).post("fulfillments/rejections", [element]).status_code == 200

    def problem():
        [row] = operator.get("/admin/orders/order/").context["cl"].result_list
        return row.problem_words

    refuse("1", "LAN-1", "wrong_address")
    [item] = rows(operator)
    assert (item.kind.name, item.also) == ("address-in-part", [])
    assert order.shipping_address["address1"] in item.problem
    assert all(operator.get(url).status_code == 200 for _, url in item.actions)
    assert problem() == "Wrong address in part"

    refuse("2", "LAN-2", "out_of_stock")
    [item] = rows(operator)
    assert (item.kind.name, item.also) == ("address-in-part", ["Refused by all"])

    address = {**order.shipping_address, "address1": "Right Street 1"}
    assert (
        client_for(shop).request("PATCH", f"orders/{order.pk}", {"shipping_address": address}).status_code
        == 200
    )
    assert kinds(operator) == ["refused"]
    assert problem() == "Refused by all"


def test_without_an_agreed_price_open_units_count_with_their_part_of_the_billed_amount(
    operator, acme, shop, a_variant, pushed, client_for
):
    """`billed_amount` is the amount of the whole line, so one unit of three counts a third of it."""
    a_variant(acme, "LAN-1", stock=3)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 3, "billed_amount": 30})
    work = order.fulfillments.get()
    client_for(acme).put(f"fulfillments/{work.pk}/setStatus/out_of_stock")
    assert [item.money for item in rows(operator)] == [[(30, order.currency)]]

    order.lines.update(rejected=1, canceled=2)
    assert [item.money for item in rows(operator)] == [[(10, order.currency)]]


def test_the_desk_lists_cancellations_overdue_work_and_held_orders(
    operator, shop, order, fulfillment, client_for
):
    client_for(shop).post(f"orders/{order.pk}/cancel")
    assert kinds(operator) == ["cancellation"]
    do(operator, fulfillment, "refuse-cancelation")
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(hours=1))
    assert kinds(operator) == ["overdue"]
    do(operator, order, "hold")
    assert kinds(operator) == ["held"]


def test_an_order_with_several_reasons_is_listed_once(operator, refused_address):
    do(operator, refused_address, "hold")

    [item] = rows(operator)
    assert (item.kind.name, item.also) == ("address", ["Held"])


def test_over_promised_stock_and_imports_are_on_the_desk_too(operator, acme, order):
    set_stock(on_hand=1)
    ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL, report={"reasons": ["Too many."]})
    ImportJobFactory.create(supplier=acme, status=Status.FAILED, error={"code": "x", "message": "No header."})
    assert sorted(kinds(operator)) == ["approval", "failed", "overpromised"]
    assert {"Too many.", "No header."} <= {item.problem for item in rows(operator)}


def test_a_row_offers_to_count_over_promised_stock_or_to_cancel_a_waiting_order(operator, order):
    set_stock(on_hand=1)
    [item] = rows(operator, kind="overpromised")
    assert [label for label, _ in item.actions] == ["Count stock", "Adjust stock"]
    assert all(operator.get(url).status_code == 200 for _, url in item.actions)
    OrderLine.objects.update(waiting_since=timezone.now(), reserved=1)

    [item] = rows(operator, kind="backordered")
    assert [label for label, _ in item.actions] == ["Cancel order"]
    assert all(operator.get(url).status_code == 200 for _, url in item.actions)


def test_a_silent_supplier_is_on_the_desk_unless_it_never_sent_data(
    operator, acme, rival, shop, client_for, a_variant
):
    a_variant(acme, "LAN-1", stock=1)
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    counted = {"id": "LAN-1", "amount": 3}
    body = {"warehouse_id": east.pk, "id_type": "sku", "inventories": [counted]}
    assert client_for(acme).post("inventory", body).status_code == 200
    Event.publish()
    assert rows(operator) == []
    three_days_ago = timezone.now() - timedelta(days=3)
    Event.objects.update(occurred_at=three_days_ago)
    Warehouse.objects.filter(supplier=acme).update(heard_at=three_days_ago)

    [item] = rows(operator)
    assert (item.kind.name, item.title) == ("feed", "Acme")
    StockLevel.objects.get().count(9, by=Actor(ActorKind.OPERATOR, "user:olga"))
    Event.publish()
    assert [item.kind.name for item in rows(operator)] == ["feed"]  # an operator's count is no feed
    counted["amount"] = 9
    assert client_for(acme).post("inventory", body).json()["unchanged"] == 1
    assert rows(operator) == []  # a count without a change also proves that the feed works


def test_rows_are_sorted_by_deadline_and_then_amount(operator, acme, shop, a_variant, pushed):
    a_variant(acme, "CHEAP", stock=9, wholesale_price="1")
    a_variant(acme, "DEAR", stock=9, wholesale_price="100")
    cheap, dear = (pushed(shop, {"sku": sku, "quantity": 1}) for sku in ("CHEAP", "DEAR"))
    late = pushed(shop, {"sku": "CHEAP", "quantity": 1}, ship_until="2031-01-01")
    for order in (cheap, dear, late):
        do(operator, order, "hold")

    assert [item.order_id for item in rows(operator)] == [late.pk, dear.pk, cheap.pk]


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"kind": "address"}, 1),
        ({"kind": "held"}, 0),
        ({"supplier": "{acme}"}, 1),
        ({"supplier": "{rival}"}, 0),
        ({"hours": "1"}, 0),
        ({"taken": "mine"}, 0),
        ({"taken": "free"}, 1),
        ({"taken": "snoozed"}, 0),
        ({"kind": "nonsense", "supplier": "x", "hours": "x", "start": "x"}, 1),
        ({"start": "W3sid2FpdGluZyI6WzEsMl19LG51bGxd"}, 1),
    ],
)
def test_the_desk_can_be_filtered(operator, refused_address, acme, rival, asked, count):
    names = {"acme": acme.pk, "rival": rival.pk}
    assert len(rows(operator, **{name: text.format(**names) for name, text in asked.items()})) == count


def test_rows_of_every_kind_can_be_filtered_by_supplier(operator, acme, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        assert rows(operator, supplier=acme.pk, hours=1, taken="mine") == []


def keep(client, item, **kept):
    fields = {"model": item.model, "record_id": item.record.pk, "next": DESK, **kept}
    return client.post(f"{DESK}note/", fields, follow=True)


def test_a_row_is_taken_commented_and_snoozed(operator, refused_address):
    [item] = rows(operator)
    keep(operator, item, assigned_to="olga", text="Asked the retailer")
    [item] = rows(operator, taken="mine")
    assert (item.note.assigned_to, item.note.text) == ("olga", "Asked the retailer")
    assert rows(operator, taken="free") == []

    assert messages(keep(operator, item, assigned_to="olga", snooze_hours="1")) == ["Snoozed for 1 hour."]
    assert messages(keep(operator, item, assigned_to="olga", snooze_hours="2")) == ["Snoozed for 2 hours."]
    assert rows(operator) == []
    assert len(rows(operator, taken="snoozed")) == 1
    OperatorNote.objects.update(snoozed_until=timezone.now())
    assert len(rows(operator)) == 1


def test_support_reads_the_desk_and_cannot_write_notes(support, operator, refused_address):
    [item] = rows(support)
    assert "Correct address" not in support.get(DESK).text
    assert keep(support, item, text="x").status_code == 403
    assert not OperatorNote.objects.exists()


@pytest.mark.parametrize("sent", [{}, {"model": "auth.user", "record_id": "1"}, {"model": "orders.order"}])
def test_an_empty_note_is_refused(operator, sent):
    assert operator.post(f"{DESK}note/", sent).status_code == 403


def test_after_an_action_the_desk_shows_the_next_row(operator, refused_address):
    url = f"/admin/orders/order/{refused_address.pk}/do/correct-address/"
    address = {"address1": "1 New Street", "city": "Bath", "country": "uk", "reason": ""}
    page = operator.post(f"{url}?next={DESK}", {**address, "next": DESK}, follow=True)
    assert page.request["PATH_INFO"] == DESK
    assert page.context["items"] == []


def test_after_an_action_no_redirect_leaves_the_site(operator, order):
    for elsewhere in ("https://evil.example/", "//evil.example/admin/", "/v3/docs"):
        answer = operator.post(
            f"/admin/orders/order/{order.pk}/do/route-again/", {"reason": "x", "next": elsewhere}
        )
        assert answer["Location"] == f"/admin/orders/order/{order.pk}/change/"


def test_the_desk_takes_the_same_queries_for_any_amount_of_work(
    operator, acme, shop, a_variant, pushed, client_for, django_assert_max_num_queries
):
    a_variant(acme, "LAN-1", stock=50)

    def one_more():
        order = pushed(shop, {"sku": "LAN-1", "quantity": 1})
        state = ("wrong_address", "out_of_stock")[order.pk % 2]
        client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/{state}")
        ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
        set_stock(on_hand=50)

    def asked():
        with django_assert_max_num_queries(32) as statements:
            operator.get(DESK)
        return len(statements)

    one_more()
    one_more()
    asked()
    few = asked()
    for _ in range(6):
        one_more()
    assert asked() == few
    assert Order.objects.count() == ImportJob.objects.count() == 8


def test_labels_of_forms_have_no_colon(operator, acme):
    suspend = f"/admin/accounts/supplier/{acme.pk}/suspend/"
    for path in ("/admin/desk/", suspend, "/admin/catalog/variant/add/"):
        page = operator.get(path)
        assert page.status_code == 200, path
        assert "</label>" in page.text, path
        assert ":</label>" not in page.text, path
