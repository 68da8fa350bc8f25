"""Changes of policies and automatic imports are recorded with the old values."""

from __future__ import annotations

import pytest

from accounts.scopes import Scope
from events.models import Event
from imports.models import AutoImport, ImportPolicy
from inventory.models import Warehouse
from tests.backoffice.conftest import operator, support
from tests.factories import AutoImportFactory

__all__ = ["operator", "support"]

ADMIN = "/admin/imports"
MAPPING = {"field_mapping": [{"source": "Name", "field": "title"}], "math_transformer": ""}


def happened():
    """Return the type, area, kind of actor and data of each event."""
    events = Event.objects.order_by("id")
    return [((event.type, event.area, event.actor.partition(":")[0]), event.data) for event in events]


def policy_form(acme, **changes):
    form = {"supplier": acme.pk, "zeroed_share": "0.3", "zeroed_least": 100, "delisted_share": ""}
    return {**form, "price_factor": "", **changes}


def test_a_suppliers_policy_is_recorded_with_the_old_and_the_new_values(acme, client_for):
    client = client_for(acme)
    client.put("importPolicy", {"price_factor": 2})
    client.put("importPolicy", {"price_factor": 2})
    client.put("importPolicy", {"price_factor": None, "zeroed_least": 5})

    pk = ImportPolicy.objects.get().pk
    assert happened() == [
        (
            ("import_policy.created", "inventory", "key"),
            {"import_policy_id": pk, "changed": {"price_factor": {"from": None, "to": "2"}}},
        ),
        (
            ("import_policy.updated", "inventory", "key"),
            {
                "import_policy_id": pk,
                "changed": {
                    "price_factor": {"from": "2", "to": None},
                    "zeroed_least": {"from": 100, "to": 5},
                },
            },
        ),
    ]


def test_a_suppliers_automatic_import_is_recorded(acme, client_for):
    client, east = client_for(acme), Warehouse.objects.get(supplier=acme, is_default=True)
    client.put("autoImports/inventory", {"warehouse_id": east.pk})
    client.put("autoImports/inventory", {"warehouse_id": east.pk})
    client.put("autoImports/inventory", {"warehouse_id": east.pk, "enabled": False})

    (created, first), (updated, second) = happened()
    assert created == ("auto_import.created", "inventory", "key")
    assert (first["kind"], first["changed"]["enabled"]) == ("inventory", {"from": False, "to": True})
    assert first["changed"]["options"]["from"] == {}
    assert first["changed"]["options"]["to"]["warehouse_id"] == east.pk
    assert updated == ("auto_import.updated", "inventory", "key")
    assert second["changed"] == {"enabled": {"from": True, "to": False}}


def test_operators_changes_of_a_policy_are_recorded(operator, acme):
    added = operator.post(f"{ADMIN}/importpolicy/add/", policy_form(acme, zeroed_least=7))
    policy = ImportPolicy.objects.get()
    change = policy_form(acme, zeroed_least=7, zeroed_share="0.5")
    changed = operator.post(f"{ADMIN}/importpolicy/{policy.pk}/change/", change)
    deleted = operator.post(f"{ADMIN}/importpolicy/{policy.pk}/delete/", {"post": "yes"})

    assert [answer.status_code for answer in (added, changed, deleted)] == [302, 302, 302]
    assert not ImportPolicy.objects.exists()
    named = {"import_policy_id": policy.pk}
    assert happened() == [
        (
            ("import_policy.created", "inventory", "user"),
            {**named, "changed": {"zeroed_least": {"from": 100, "to": 7}}},
        ),
        (
            ("import_policy.updated", "inventory", "user"),
            {**named, "changed": {"zeroed_share": {"from": "0.3", "to": "0.5"}}},
        ),
        (
            ("import_policy.deleted", "inventory", "user"),
            {
                **named,
                "changed": {
                    "zeroed_share": {"from": "0.3", "to": "0.5"},
                    "zeroed_least": {"from": 100, "to": 7},
                },
            },
        ),
    ]
    assert set(Event.objects.values_list("supplier", flat=True)) == {acme.pk}


def test_an_operator_switches_an_automatic_import_off_and_removes_it(operator, acme):
    automatic = AutoImportFactory.create(supplier=acme, kind="products", options=MAPPING)
    operator.post(f"{ADMIN}/autoimport/{automatic.pk}/change/", {})
    operator.post(f"{ADMIN}/autoimport/{automatic.pk}/delete/", {"post": "yes"})

    assert not AutoImport.objects.exists()
    (updated, first), (deleted, second) = happened()
    assert updated == ("auto_import.updated", "catalog", "user")
    assert first == {
        "auto_import_id": automatic.pk,
        "kind": "products",
        "changed": {"enabled": {"from": True, "to": False}},
    }
    assert deleted == ("auto_import.deleted", "catalog", "user")
    assert second["changed"]["options"] == {"from": {}, "to": MAPPING}


def test_saving_an_unchanged_page_records_nothing(operator, acme, client_for):
    client_for(acme).put("importPolicy", {"zeroed_least": 7})
    policy = ImportPolicy.objects.get()

    operator.post(f"{ADMIN}/importpolicy/{policy.pk}/change/", policy_form(acme, zeroed_least=7))

    assert Event.objects.count() == 1


@pytest.mark.parametrize(
    ("scopes", "types"),
    [
        ([Scope.CATALOG_READ], {"auto_import.created"}),
        ([Scope.INVENTORY_READ], {"import_policy.created"}),
        ([Scope.FULFILLMENTS_READ], set()),
    ],
)
def test_a_key_reads_only_events_of_its_scopes(acme, rival, client_for, scopes, types):
    everything = client_for(acme)
    everything.put("autoImports/products", {"field_mapping": ["Name:title"]})
    everything.put("importPolicy", {"zeroed_least": 7})

    feed = client_for(acme, scopes=scopes).get("events").json()["results"]

    assert {event["type"] for event in feed} == types
    assert client_for(rival).get("events").json()["results"] == []


def test_operators_find_them_in_the_list_of_events(operator, acme, client_for):
    client_for(acme).put("importPolicy", {"zeroed_least": 7})

    assert "import_policy.created" in operator.get("/admin/events/event/?area=inventory").text
