"""A consumer's personal data is erased from closed orders; units, prices and numbers stay."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.db.models import JSONField, TextField
from django.utils import timezone

from accounts.models import IdempotencyKey
from events.models import Event
from orders.erasing import erase_old, orders_of
from orders.models import Order, OrderLine
from orders.personal import HARMLESS, personal, personal_fields, text_fields
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

JANE = {
    "first_name": "Jane",
    "last_name": "Doefield",
    "address1": "7 Secretive Street",
    "zip_code": "10115",
    "city": "Hiddenburg",
    "country": "DE",
    "email": "Jane@Example.org",
    "phone_number": "030 5550199",
}
PERSONAL = ("jane", "doefield", "secretive", "10115", "hiddenburg", "5550199", "with love")


@pytest.fixture
def open_order(acme, shop, a_variant, client_for):
    """Push an order that waits for stock."""
    a_variant(acme, "LAN-1", stock=0)
    body = an_order(
        {"sku": "LAN-1", "quantity": 1},
        shipping_address=JANE,
        billing_address=JANE,
        gift_message="With love",
        when_short="wait",
    )
    answer = client_for(shop).post("orders", body)
    return Order.objects.get(pk=answer.json()["order_id"])


def cancel(order, client):
    client.post(f"orders/{order.pk}/cancel", {"reason": "too late"})
    order.refresh_from_db()


@pytest.fixture
def order(open_order, shop, client_for):
    """Cancel the order before a supplier gets it, so that it is closed."""
    order = open_order
    cancel(order, client_for(shop))
    assert order.processing_state == "canceled"
    return order


def everywhere(order, client_for, shop):
    """Return the API's answer about an order, its events and its fields as one text."""
    order.refresh_from_db()
    said = client_for(shop).get(f"orders/{order.pk}").json()
    rows = [*Event.objects.filter(order_id=order.pk).values_list("data", flat=True)]
    known = (order.shipping_address, order.billing_address, order.gift_message, order.notes)
    return json.dumps([said, rows, known]).lower()


def test_erased_fields_say_so_and_the_country_stays(order, client_for, shop):
    assert all(word in everywhere(order, client_for, shop) for word in PERSONAL)

    call_command("erase", order=[order.pk], reason="She asked by letter")

    assert not [word for word in PERSONAL if word in everywhere(order, client_for, shop)]
    said = client_for(shop).get(f"orders/{order.pk}").json()
    shown = {part: text for part, text in said["shipping_address"].items() if text}
    assert shown == dict.fromkeys(JANE, "erased") | {"country": "DE"}
    assert said["gift_message"] == "erased"
    event = Event.objects.get(type="order.erased", order_id=order.pk)
    assert event.data["operator_reason"] == "She asked by letter"


@pytest.mark.parametrize("model", [Order, OrderLine])
def test_every_text_field_is_personal_or_declared_harmless(model):
    """Mark a new text field of a model with `personal(…)`, or name it in `orders.personal.HARMLESS`."""
    marked = {field.name for field in personal_fields(model)}

    assert text_fields(model) - marked == HARMLESS[model.__name__]


@pytest.mark.parametrize(
    ("model", "field"), [(model, field) for model in (Order, OrderLine) for field in personal_fields(model)]
)
def test_every_personal_field_is_erased(order, model, field):
    secret: object = "Secretive"
    if isinstance(field, JSONField):
        secret = {"city": secret} if field.default is dict else [{"name": "to", "value": secret}]
    model.objects.update(**{field.name: secret})

    call_command("erase", order=[order.pk], reason="x")

    assert "Secretive" not in str(model.objects.values_list(field.name))


def test_the_mark_of_personal_fields_makes_no_migration():
    field = personal(TextField(blank=True))

    assert field.deconstruct() == TextField(blank=True).deconstruct()


def test_all_orders_of_a_person_are_found_by_e_mail_until_erased(order):
    assert orders_of(" jane@example.ORG") == [order]
    call_command("erase", email=["jane@example.org"], reason="x")
    assert orders_of("jane@example.org") == []


def test_the_command_needs_an_order_or_an_address(order):
    with pytest.raises(CommandError, match="--order, or their consumer with --email"):
        call_command("erase", reason="x")


def test_pollers_see_an_erasure_and_a_second_erasure_changes_nothing(order):
    call_command("erase", order=[order.pk], reason="x")
    first = Order.objects.get(pk=order.pk).updated_at
    assert first > order.updated_at
    call_command("erase", order=[order.pk], reason="x")
    assert Order.objects.get(pk=order.pk).updated_at == first


def test_an_open_order_is_not_erased(open_order):
    with pytest.raises(CommandError, match="when they are closed"):
        call_command("erase", order=[open_order.pk], reason="x")
    assert Order.objects.get(pk=open_order.pk).shipping_address["city"] == "Hiddenburg"


def test_an_order_that_cannot_be_locked_does_not_stop_the_erasure_of_the_others(
    order, shop, client_for, monkeypatch, capsys
):
    api = client_for(shop)
    body = an_order({"sku": "LAN-1", "quantity": 1}, shipping_address=JANE, when_short="wait")
    other = Order.objects.get(pk=api.post("orders", body).json()["order_id"])
    cancel(other, api)
    lock = Order.lock

    def lock_but_the_first(locked):
        if locked.pk == order.pk:
            raise OperationalError("canceling statement due to lock timeout")
        lock(locked)

    monkeypatch.setattr(Order, "lock", lock_but_the_first)
    with pytest.raises(CommandError, match="1 orders were not erased"):
        call_command("erase", email=[JANE["email"]], reason="x")

    assert f"Not erased: {order.retailer_order_id}: " in capsys.readouterr().err
    assert Order.objects.get(pk=other.pk).shipping_address["city"] == "erased"


def test_stored_answers_that_quote_the_address_are_deleted_and_others_stay(order, client_for, shop):
    reader = client_for(shop)
    reader.post("orders", an_order({"sku": "LAN-1", "quantity": 1}), Idempotency_Key="other")
    kept = IdempotencyKey.objects.get()
    kept.pk, kept.key, kept.body = None, "quotes", json.dumps({"address1": JANE["address1"]}).encode()
    kept.save()

    call_command("erase", order=[order.pk], reason="x")
    assert [*IdempotencyKey.objects.values_list("key", flat=True)] == ["other"]


def test_an_operator_erases_with_a_reason(order, admin_client):
    path = f"/admin/orders/order/{order.pk}/do/erase/"
    admin_client.post(path, {"reason": ""})
    assert Order.objects.get(pk=order.pk).erased_at is None
    admin_client.post(path, {"reason": "She asked"})
    assert Order.objects.get(pk=order.pk).shipping_address["address1"] == "erased"


def test_the_task_erases_only_old_closed_orders_and_only_if_set(order, settings):
    Order.objects.filter(pk=order.pk).update(updated_at=timezone.now() - timedelta(days=31))
    assert erase_old() == 0
    settings.ERASE_DAYS = 32
    assert erase_old() == 0
    settings.ERASE_DAYS = 30
    assert (erase_old(), erase_old()) == (1, 0)


def test_reconcile_finds_no_difference_in_an_erased_order(order, capsys):
    call_command("erase", order=[order.pk], reason="x")
    call_command("reconcile")
    assert "says" not in capsys.readouterr().out
