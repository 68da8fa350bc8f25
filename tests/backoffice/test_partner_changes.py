"""Changes of parties, partnerships and keys are recorded with the operator and the old values."""

import pytest

from accounts.models import ApiKey, Partnership, Retailer, Supplier
from events.models import Event

PATH = "/admin/accounts"
KEY = {"allowed_networks": "", "rate_limit": "", "expires_at": ""}


def events():
    """Return the types and data of the events. Check that olga caused them and only operators see them."""
    happened = list(Event.objects.order_by("id"))
    assert {(event.actor, event.area) for event in happened} <= {("user:olga", "accounts")}
    return [(event.type, event.data) for event in happened]


def form_of(partnership, **changes):
    names = (
        "retailer_erp_id",
        "retailer_shipper_account",
        "hours_to_capture",
        "hours_to_accept",
        "hours_to_ship",
        "hours_to_answer",
        "cancelation_default",
        "cancel_before_capture",
        "when_short",
        "max_wait_days",
        "max_units_per_line",
    )
    values = {name: getattr(partnership, name) for name in names}
    return {
        **{name: "" if value is None else value for name, value in values.items()},
        "retailer": partnership.retailer_id,
        "supplier": partnership.supplier_id,
        "service_types": partnership.service_types,
        "is_active": "on",
        **changes,
    }


@pytest.fixture
def partnership(acme, shop):
    return Partnership.objects.get(supplier=acme, retailer=shop)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"safety_stock": 4}, {"safety_stock": {"from": 0, "to": 4}}),
        ({"priority": 1}, {"priority": {"from": 100, "to": 1}}),
        ({"name": "Acme Ltd"}, {"name": {"from": "Acme", "to": "Acme Ltd"}}),
    ],
)
def test_a_suppliers_change_is_recorded(operator, acme, change, changed):
    form = {"name": acme.name, "priority": acme.priority, "safety_stock": acme.safety_stock, **change}
    assert operator.post(f"{PATH}/supplier/{acme.pk}/change/", form).status_code == 302

    name = change.get("name", "Acme")
    assert events() == [
        ("supplier.updated", {"supplier_id": acme.pk, "name": name, "changed": changed}),
    ]
    assert Event.objects.get().supplier == acme


def test_saving_an_unchanged_party_records_nothing(operator, shop):
    page = operator.post(f"{PATH}/retailer/{shop.pk}/change/", {"name": shop.name})
    assert page.status_code == 302
    assert events() == []


def test_a_new_party_and_its_partnership_are_recorded(operator, acme):
    assert operator.post(f"{PATH}/retailer/add/", {"name": "Fresh", "currency": "USD"}).status_code == 302
    retailer = Retailer.objects.get(name="Fresh")
    new = form_of(Partnership(supplier=acme, retailer=retailer, service_types=["wholesale"]))
    assert operator.post(f"{PATH}/partnership/add/", new).status_code == 302

    made = Partnership.objects.get(retailer=retailer)
    of_it = {"partnership_id": made.pk, "service_types": ["wholesale"], "is_active": True}
    assert events() == [
        ("retailer.created", {"retailer_id": retailer.pk, "name": "Fresh"}),
        ("partnership.created", of_it),
    ]


def test_the_end_of_a_partnership_is_recorded_for_both_parties(operator, partnership, client_for):
    form = form_of(partnership)
    del form["is_active"]
    assert operator.post(f"{PATH}/partnership/{partnership.pk}/change/", form).status_code == 302

    [(name, data)] = events()
    assert (name, data["changed"]) == ("partnership.updated", {"is_active": {"from": True, "to": False}})
    event = Event.objects.get()
    assert (event.supplier, event.retailer) == (partnership.supplier, partnership.retailer)
    for party in (partnership.supplier, partnership.retailer):
        assert client_for(party).get("events").json()["results"] == []  # only operators see these events


def test_changed_terms_of_a_partnership_are_recorded(operator, partnership):
    form = form_of(partnership) | {"hours_to_ship": 48}
    assert operator.post(f"{PATH}/partnership/{partnership.pk}/change/", form).status_code == 302

    [(name, data)] = events()
    assert (name, data["changed"]) == ("partnership.updated", {"hours_to_ship": {"from": None, "to": 48}})


def test_each_change_of_a_key_is_recorded_without_its_secret(operator, acme):
    operator.post(f"{PATH}/apikey/add/", {**KEY, "name": "ERP", "supplier": acme.pk})
    key = ApiKey.objects.get()
    operator.post(f"{PATH}/apikey/{key.pk}/change/", {**KEY, "name": "ERP", "scopes": ["catalog:read"]})
    operator.post(f"{PATH}/apikey/{key.pk}/do/rotate/")
    fresh = ApiKey.objects.exclude(pk=key.pk).get()
    for _ in range(2):  # the second request changes nothing
        operator.post(f"{PATH}/apikey/{fresh.pk}/do/revoke/", {"reason": "Lost"})

    of_key = {"api_key_id": key.pk, "name": "ERP", "prefix": key.prefix}
    of_fresh = {"api_key_id": fresh.pk, "name": "ERP", "prefix": fresh.prefix}
    assert events() == [
        ("api_key.created", of_key),
        ("api_key.updated", {**of_key, "changed": {"scopes": {"from": None, "to": ["catalog:read"]}}}),
        ("api_key.rotated", {**of_key, "successor": fresh.prefix}),
        ("api_key.revoked", {**of_fresh, "operator_reason": "Lost"}),
    ]


def test_a_change_is_rolled_back_if_its_event_cannot_be_recorded(operator, acme, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr("events.changes.record", broken)
    form = {"name": "Acme Ltd", "priority": 1, "safety_stock": 1}
    with pytest.raises(RuntimeError):
        operator.post(f"{PATH}/supplier/{acme.pk}/change/", form)
    assert Supplier.objects.get(pk=acme.pk).name == "Acme"


def test_operators_find_these_events_by_their_area(operator, acme):
    form = {"name": "Acme", "priority": 1, "safety_stock": 0}
    operator.post(f"{PATH}/supplier/{acme.pk}/change/", form)

    listed = operator.get("/admin/events/event/", {"area": "accounts"}).context["cl"].result_list
    assert [event.type for event in listed] == ["supplier.updated"]
    assert not operator.get("/admin/events/event/", {"area": "orders"}).context["cl"].result_list


def test_a_stored_partnership_keeps_its_parties(operator, partnership, rival, shop):
    Partnership.objects.filter(supplier=rival, retailer=shop).delete()
    form = form_of(partnership, supplier=rival.pk, hours_to_ship=48)
    assert operator.post(f"{PATH}/partnership/{partnership.pk}/change/", form).status_code == 302

    kept = Partnership.objects.get(pk=partnership.pk)
    assert (kept.supplier, kept.retailer) == (partnership.supplier, partnership.retailer)
    assert kept.hours_to_ship == 48
