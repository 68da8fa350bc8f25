"""Tracking numbers: derived carriers with links, warnings about doubtful numbers, and corrections."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from events.models import Event
from fulfillments.models import Shipment
from fulfillments.scorecard import sums
from fulfillments.tracking import identify, tracking_url
from fulfillments.tracking.formats import DATA, FORMATS
from fulfillments.tracking.updating import wrongly_recognized
from orders.reconciling.unit_sources import RESTORE_PARCELS
from tests.orders.fixtures import status

UPS, TYPO, OTHER = "1Z5R89390357567127", "1Z5R89390357567128", "1Z879E930346834440"
FEDEX = "986578788855"


@pytest.fixture
def ship(work, acme_api):
    """Return a function that ships the whole fulfillment, or some lines, as Acme. It returns the answer."""
    acme_api.put(status(work, "accepted"))

    def ship_parcel(number, **body):
        return acme_api.put(status(work, "shipped"), {"tracking_number": number, **body}).json()

    return ship_parcel


@pytest.fixture
def correct(work, acme_api):
    def correct_parcel(**body):
        path = f"fulfillments/{work.pk}/shipments/{work.shipments.first().pk}"
        return acme_api.request("PATCH", path, body)

    return correct_parcel


def parcels(api, work):
    shown = api.get(f"fulfillments/{work.pk}").json()["shipments"]
    return [(each["tracking_number"], each["carrier"]) for each in shown]


def test_every_test_number_of_the_data_set_is_recognized_as_it_says():
    data = json.loads(DATA.read_text())
    counts = [sum(len(row[kind]) for row in data["formats"]) for kind in ("valid", "invalid")]

    assert len({row["carrier"] for row in data["formats"]}) >= 18
    assert (len(data["formats"]), *counts) >= (39, 192, 87)
    assert [*wrongly_recognized(data)] == []


@pytest.mark.parametrize(
    ("number", "named", "carrier", "is_doubtful"),
    [
        (UPS, "", "UPS", False),
        (UPS.lower(), "", "UPS", False),
        ("1Z 5R8 939 0357 5671 27", "united parcel service", "UPS", False),
        (TYPO, "", "UPS", True),
        (TYPO, "u.p.s.", "UPS", True),
        (TYPO, "DHL", "DHL", False),
        (FEDEX, "", "FedEx", False),
        ("K2479825491", "", "UPS", False),
        ("9400111206206406260787", "", "USPS", False),
        ("RB123456785US", "", "USPS", False),
        ("RB123456785XX", "", "", False),
        ("3318810010", "", "", True),
        ("60120172242323", "", "", False),  # 14 digits without a check digit: DHL, DPD or another carrier
        ("60120172242323", "dhl", "DHL", False),
        ("ORD202611001", "", "", False),  # three letters and nine digits are the format of no carrier
        ("TBA000000000000", "", "Amazon", False),
        ("MY-1", "", "", False),
        ("MY-1", "Harbour Couriers", "Harbour Couriers", False),
    ],
)
def test_the_carrier_is_derived_and_spelled_in_one_way(number, named, carrier, is_doubtful):
    parcel = identify(number, named)
    assert (parcel.carrier, parcel.is_doubtful) == (carrier, is_doubtful)


def test_a_format_without_a_check_digit_and_a_fixed_letter_names_no_carrier():
    rows = json.loads(DATA.read_text())["formats"]
    vague = [row["format"] for row, each in zip(rows, FORMATS, strict=True) if each.is_vague]
    assert vague == ["DHL E-Commerce (14)", "Purolator (alpha + 9)"]


def test_a_link_has_the_number_without_blanks_and_a_carrier_without_a_page_has_none():
    assert str(tracking_url("1Z 5R8/9", "UPS")).endswith("trackNums=1Z5R8%2F9")
    assert tracking_url("MY-1", "Harbour Couriers") is None


def test_both_sides_see_the_derived_carrier_with_its_link(work, ship, acme_api, shop_api):
    assert ship(UPS)["warnings"] == []

    [seen] = acme_api.get(f"fulfillments/{work.pk}").json()["shipments"]
    [sold] = shop_api.get(f"orders/{work.order_id}").json()["fulfillments"]
    assert (seen["carrier"], sold["shipments"][0]["id"]) == ("UPS", seen["id"])
    assert seen["tracking_url"] == sold["shipments"][0]["tracking_url"]
    assert UPS in seen["tracking_url"]
    assert ship(UPS, carrier="ups")["code"] == "unchanged"


def test_a_doubtful_number_is_accepted_with_a_warning_and_counted(work, ship, acme_api):
    [warning] = ship(TYPO)["warnings"]
    Event.publish()
    sums.add_up(seconds=5)

    assert TYPO in warning
    assert "UPS" in warning
    assert acme_api.get("scorecard").json()["doubtful_tracking_numbers"] == 1


def test_several_parcels_warn_one_by_one(work, acme_api):
    acme_api.put(status(work, "accepted"))
    items = [{"sku": "LAMP", "quantity": 1}]
    sent = [{"trackingNumber": number, "items": items} for number in (UPS, TYPO)]

    answer = acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": sent}).json()

    assert (answer["code"], len(answer["warnings"])) == ("shipped", 1)


def test_a_parcel_is_corrected_for_both_sides(work, ship, correct, acme_api, shop_api):
    ship(TYPO)
    before = shop_api.get(f"orders/{work.order_id}").json()["updated_at"]

    answer = correct(tracking_number=UPS).json()

    order = shop_api.get(f"orders/{work.order_id}").json()
    event = Event.objects.get(type="fulfillment.shipment_corrected")
    assert (answer["code"], answer["warnings"]) == ("shipment_corrected", [])
    assert parcels(acme_api, work) == [(UPS, "UPS")]
    assert order["fulfillments"][0]["tracking_numbers"] == [UPS]
    assert order["updated_at"] > before
    assert (event.data["old_tracking_number"], event.data["tracking_number"]) == (TYPO, UPS)
    assert (event.supplier_id, event.retailer_id) == (work.supplier_id, work.order.retailer_id)
    assert correct(tracking_number=UPS).json()["code"] == "unchanged"
    assert ship(TYPO)["code"] == ship(UPS)["code"] == "unchanged"
    assert work.shipments.count() == 1


def test_a_derived_carrier_is_derived_again_and_a_named_one_stays(work, ship, correct, acme_api):
    ship(UPS)
    correct(tracking_number=FEDEX)
    assert parcels(acme_api, work) == [(FEDEX, "FedEx")]

    correct(carrier="Harbour Couriers")
    correct(tracking_number=OTHER)
    assert parcels(acme_api, work) == [(OTHER, "Harbour Couriers")]

    correct(carrier="")
    assert parcels(acme_api, work) == [(OTHER, "UPS")]
    assert ship(UPS, carrier="UPS")["code"] == "unchanged"


def test_a_derived_carrier_that_is_named_later_stays(work, ship, correct, acme_api):
    ship(UPS)
    assert correct(carrier="ups").json()["code"] == "unchanged"
    correct(tracking_number=FEDEX)
    assert parcels(acme_api, work) == [(FEDEX, "UPS")]

    correct(tracking_number=OTHER)
    assert correct(carrier="").json()["code"] == "unchanged"
    correct(tracking_number=FEDEX)
    assert parcels(acme_api, work) == [(FEDEX, "FedEx")]


@pytest.mark.parametrize(("days", "shipped", "is_late"), [(30, 29, False), (30, 31, True), (0, 0, True)])
def test_a_parcel_can_be_corrected_for_some_days(work, ship, correct, settings, days, shipped, is_late):
    settings.SHIPMENT_CORRECTION_DAYS = days
    ship(TYPO)
    Shipment.objects.update(shipped_at=timezone.now() - timedelta(days=shipped))

    answer = correct(tracking_number=UPS)

    assert answer.json()["code"] == ("correction_too_late" if is_late else "shipment_corrected")
    assert answer.status_code == (409 if is_late else 200)


def test_a_number_of_another_parcel_is_taken(work, ship, correct, acme_api):
    lamp, mat = work.lines.all()
    ship(UPS, lines=[{"id": lamp.pk, "quantity": 1}])
    ship(OTHER, lines=[{"id": mat.pk, "quantity": 1}])

    answer = correct(tracking_number=OTHER)

    assert (answer.status_code, answer.json()["code"]) == (409, "tracking_number_taken")
    assert parcels(acme_api, work) == [(UPS, "UPS"), (OTHER, "UPS")]


def test_two_parcels_can_swap_their_numbers(work, ship, acme_api):
    lamp, mat = work.lines.all()
    sent = {UPS: [{"id": lamp.pk, "quantity": 3}], OTHER: [{"id": mat.pk, "quantity": 2}]}
    for number, lines in sent.items():
        ship(number, lines=lines)
    first, second = work.shipments.values_list("pk", flat=True)

    for pk, number in ((first, "swap"), (second, UPS), (first, OTHER)):
        path = f"fulfillments/{work.pk}/shipments/{pk}"
        assert acme_api.request("PATCH", path, {"tracking_number": number}).status_code == 200

    assert [number for number, _ in parcels(acme_api, work)] == [OTHER, UPS]
    assert [ship(number, lines=lines)["code"] for number, lines in sent.items()] == ["unchanged"] * 2
    assert ship(UPS)["code"] == ship("swap")["code"] == "unchanged"
    assert ship(UPS, lines=[{"id": lamp.pk, "quantity": 1}])["code"] == "invalid_transition"
    assert work.shipments.count() == 2


def test_wrong_corrections_are_refused(work, ship, correct, acme_api, rival_api):
    ship(UPS)
    path = f"fulfillments/{work.pk}/shipments"
    [pk] = work.shipments.values_list("pk", flat=True)

    assert correct().json()["code"] == "missing_parameter"
    assert correct(tracking_number="").json()["errors"][0]["field"] == "tracking_number"
    assert correct(tracking_number=5).status_code == 400
    assert acme_api.request("PATCH", f"{path}/{pk + 1}", {"carrier": "UPS"}).status_code == 404
    assert rival_api.request("PATCH", f"{path}/{pk}", {"carrier": "UPS"}).status_code == 404


def test_a_damaged_corrected_parcel_is_restored_under_its_new_number(work, ship, correct):
    ship(TYPO)
    correct(tracking_number=UPS)
    Shipment.objects.update(items=[])
    with connection.cursor() as cursor:
        cursor.execute(RESTORE_PARCELS)

    [parcel] = Shipment.objects.all()
    assert (parcel.tracking_number, sum(item["quantity"] for item in parcel.items)) == (UPS, 5)


def test_the_data_set_is_updated_from_a_folder(tmp_path):
    (tmp_path / "couriers").mkdir()
    test_numbers = {"valid": ["H 140"], "invalid": ["H145"]}
    three = {
        "name": "Harbour 3",
        "regex": ["\\s*H(?<SerialNumber>[0-9]{2})", "(?<CheckDigit>[0-9])"],
        "validation": {"checksum": {"name": "mod7"}},
        "tracking_url": "https://harbour.example/%s",
        "test_numbers": test_numbers,
    }
    courier = {"name": "Harbour", "courier_code": "harbour", "tracking_numbers": [three]}
    target, path = tmp_path / "formats.json", tmp_path / "couriers" / "harbour.json"
    path.write_text(json.dumps(courier))
    call_command("update_tracking_formats", tmp_path, data_version="9.9", to=target, verbosity=0)
    assert json.loads(target.read_text())["formats"][0]["carrier"] == "Harbour"

    test_numbers["valid"] = ["H145"]
    path.write_text(json.dumps(courier))
    with pytest.raises(CommandError, match="not recognized"):
        call_command("update_tracking_formats", tmp_path, data_version="9.9", to=target)
