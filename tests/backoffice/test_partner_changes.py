"""Changes of parties, partnerships and keys are recorded with the operator and the old values."""

import pytest

from accounts.models import ApiKey, Partnership, Supplier
from events.models import Event

PATH = "/admin/accounts"
INLINE = {"partnerships-TOTAL_FORMS": 0, "partnerships-INITIAL_FORMS": 0}
KEY = {"allowed_networks": "", "rate_limit": "", "expires_at_0": "", "expires_at_1": ""}


def events():
    """Return type and data of the events; all are by the operator and for operators."""
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
        "when_short",
    )
    values = {name: getattr(partnership, name) for name in names}
    return {
        **{name: "" if value is None else value for name, value in values.items()},
        "retailer": partnership.retailer_id,
        "supplier": partnership.supplier_id,
        "service_types": ",".join(partnership.service_types),
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
    assert operator.post(f"{PATH}/supplier/{acme.pk}/change/", {**form, **INLINE}).status_code == 302

    name = change.get("name", "Acme")
    assert events() == [
        ("supplier.updated", {"supplier_id": acme.pk, "name": name, "changed": changed}),
    ]
    assert Event.objects.get().supplier == acme


def test_saving_an_unchanged_party_records_nothing(operator, shop):
    page = operator.post(f"{PATH}/retailer/{shop.pk}/change/", {"name": shop.name, **INLINE})
    assert page.status_code == 302
    assert events() == []


def test_a_new_party_is_recorded_with_its_partnership(operator, acme):
    page = operator.get(f"{PATH}/retailer/add/")
    empty = page.context["inline_admin_formsets"][0].formset.empty_form
    inline = {f"partnerships-0-{name}": empty[name].value() for name in empty.fields}
    inline = {name: value for name, value in inline.items() if value is not None} | {
        "partnerships-TOTAL_FORMS": 1,
        "partnerships-INITIAL_FORMS": 0,
        "partnerships-0-supplier": acme.pk,
        "partnerships-0-service_types": "wholesale",
    }
    assert operator.post(f"{PATH}/retailer/add/", {"name": "Fresh", **inline}).status_code == 302

    made = Partnership.objects.get(retailer__name="Fresh")
    of_it = {"partnership_id": made.pk, "service_types": ["wholesale"], "is_active": True}
    assert events() == [
        ("retailer.created", {"retailer_id": made.retailer_id, "name": "Fresh"}),
        ("partnership.created", of_it),
    ]


def test_a_partnership_that_is_switched_off_is_recorded_for_both(operator, partnership, client_for):
    form = form_of(partnership)
    del form["is_active"]
    assert operator.post(f"{PATH}/partnership/{partnership.pk}/change/", form).status_code == 302

    [(name, data)] = events()
    assert (name, data["changed"]) == ("partnership.updated", {"is_active": {"from": True, "to": False}})
    event = Event.objects.get()
    assert (event.supplier, event.retailer) == (partnership.supplier, partnership.retailer)
    for party in (partnership.supplier, partnership.retailer):
        assert client_for(party).get("events").json()["results"] == []  # the operators' own


def test_a_change_on_the_partys_page_is_recorded_as_on_its_own(operator, acme, partnership):
    page = operator.get(f"{PATH}/supplier/{acme.pk}/change/")
    formset = page.context["inline_admin_formsets"][0].formset
    inline = {
        f"{form.prefix}-{name}": form[name].value()
        for form in formset.forms
        for name in form.fields
        if form[name].value() is not None
    }
    inline |= {f"partnerships-{name}": value for name, value in formset.management_form.initial.items()}
    for number, form in enumerate(formset.forms):
        inline[f"partnerships-{number}-service_types"] = ",".join(form.instance.service_types)
        if form.instance == partnership:
            inline[f"partnerships-{number}-hours_to_ship"] = 48
    values = {"name": "Acme", "priority": 100, "safety_stock": 0}
    assert operator.post(f"{PATH}/supplier/{acme.pk}/change/", {**values, **inline}).status_code == 302

    [(name, data)] = events()
    assert (name, data["changed"]) == ("partnership.updated", {"hours_to_ship": {"from": None, "to": 48}})


def test_a_keys_life_is_recorded_without_its_secret(operator, acme):
    operator.post(f"{PATH}/apikey/add/", {**KEY, "name": "ERP", "supplier": acme.pk})
    key = ApiKey.objects.get()
    operator.post(f"{PATH}/apikey/{key.pk}/change/", {**KEY, "name": "ERP", "scopes": ["catalog:read"]})
    operator.post(f"{PATH}/apikey/{key.pk}/do/rotate/")
    fresh = ApiKey.objects.exclude(pk=key.pk).get()
    for _ in range(2):  # the second time nothing is left to revoke
        operator.post(f"{PATH}/apikey/{fresh.pk}/do/revoke/", {"reason": "Lost"})

    of_key = {"api_key_id": key.pk, "name": "ERP", "prefix": key.prefix}
    of_fresh = {"api_key_id": fresh.pk, "name": "ERP", "prefix": fresh.prefix}
    assert events() == [
        ("api_key.created", of_key),
        ("api_key.updated", {**of_key, "changed": {"scopes": {"from": None, "to": ["catalog:read"]}}}),
        ("api_key.rotated", {**of_key, "successor": fresh.prefix}),
        ("api_key.revoked", {**of_fresh, "operator_reason": "Lost"}),
    ]


def test_a_change_without_its_record_is_rolled_back(operator, acme, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr("events.changes.record", broken)
    form = {"name": "Acme Ltd", "priority": 1, "safety_stock": 1, **INLINE}
    with pytest.raises(RuntimeError):
        operator.post(f"{PATH}/supplier/{acme.pk}/change/", form)
    assert Supplier.objects.get(pk=acme.pk).name == "Acme"


def test_operators_find_these_events_by_their_area(operator, acme):
    form = {"name": "Acme", "priority": 1, "safety_stock": 0, **INLINE}
    operator.post(f"{PATH}/supplier/{acme.pk}/change/", form)

    listed = operator.get("/admin/events/event/", {"area": "accounts"}).context["cl"].result_list
    assert [event.type for event in listed] == ["supplier.updated"]
    assert not operator.get("/admin/events/event/", {"area": "orders"}).context["cl"].result_list
