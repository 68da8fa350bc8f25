"""The rankings of suppliers and retailers: targets, trends, links to the counted fulfillments, CSV export."""

from __future__ import annotations

import csv
import html
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from events.models import Event
from fulfillments.models import DailySum, Fulfillment, PerformanceTarget
from fulfillments.scorecard.sums import add_up

PATH = "/admin/performance/"


@pytest.fixture
def worked(acme, rival, shop, boutique, a_variant, client_for, pushed):
    """Create four fulfillments: Acme has late and open work, Rival has punctual and rejected work."""
    for supplier, sku in ((acme, "LAN-1"), (rival, "MUG-1")):
        a_variant(supplier, sku, stock=9)
    late, open_work = (pushed(shop, {"sku": "LAN-1", "quantity": 1}).fulfillments.get() for _ in range(2))
    fast, refused = (
        pushed(retailer, {"sku": "MUG-1", "quantity": 1}).fulfillments.get() for retailer in (shop, boutique)
    )
    Fulfillment.objects.filter(pk=late.pk).update(created_at=timezone.now() - timedelta(days=4))
    for supplier, each in ((acme, late), (rival, fast)):
        own = client_for(supplier)
        own.put(f"fulfillments/{each.pk}/setStatus/accepted")
        own.put(f"fulfillments/{each.pk}/setStatus/shipped", {"tracking_number": "1Z"})
    client_for(rival).put(f"fulfillments/{refused.pk}/setStatus/out_of_stock")
    Event.publish()
    add_up(seconds=60)
    return {"late": late, "open": open_work, "fast": fast, "refused": refused}


def ranking(client, **filters):
    page = client.get(PATH, filters)
    assert page.status_code == 200
    return {row.party.name: row for row in page.context["rows"]}


def test_suppliers_are_ranked_by_shipments_on_time(operator, worked):
    rows = ranking(operator)
    assert [(row.position, name) for name, row in rows.items()] == [(1, "Rival"), (2, "Acme")]
    acme, rival = rows["Acme"].performance.now, rows["Rival"].performance.now
    assert (acme.received, acme.late, acme.on_time_percent, acme.is_too_late) == (2, 1, 0, True)
    assert (rival.refused_percent, rival.is_refused_too_often, rival.is_too_late) == (50, True, False)


def test_each_number_leads_to_its_fulfillments(operator, worked):
    rows = ranking(operator)

    def listed(name, count):
        page = operator.get(rows[name].links[count])
        assert page.status_code == 200
        return {each.pk for each in page.context["cl"].result_list}

    assert listed("Acme", "received") == {worked["late"].pk, worked["open"].pk}
    assert listed("Acme", "late") == {worked["late"].pk}
    assert listed("Rival", "late") == set()
    assert listed("Rival", "shipped") == {worked["fast"].pk}
    assert listed("Rival", "refused") == {worked["refused"].pk}
    assert listed("Rival", "out_of_stock") == {worked["refused"].pk}
    assert listed("Rival", "cancel_unanswered") == set()
    assert operator.get("/admin/fulfillments/fulfillment/?counted=nothing", follow=True).status_code == 200


def test_the_last_parcel_decides_which_list_a_fulfillment_is_in(operator, worked, shop, pushed, client_for):
    order = pushed(shop, {"sku": "MUG-1", "quantity": 2})
    work, rival = order.fulfillments.get(), client_for(order.fulfillments.get().supplier)
    path = f"fulfillments/{work.pk}/setStatus"
    lines = [{"id": work.lines.get().pk, "quantity": 1}]
    assert rival.put(f"{path}/accepted").status_code == 200
    assert rival.put(f"{path}/shipped", {"tracking_number": "1Z2", "lines": lines}).status_code == 200
    client_for(shop).post(f"orders/{order.pk}/cancel")
    assert rival.put(path, {"status": "canceled"}).status_code == 200
    Event.publish()
    now = timezone.now()
    Fulfillment.objects.filter(pk=work.pk).update(created_at=now - timedelta(days=9))
    Event.objects.filter(fulfillment_id=work.pk, type="fulfillment.shipped").update(
        occurred_at=now - timedelta(days=8, hours=20)
    )
    add_up(seconds=60)

    for days, shipped in (("7", {worked["fast"].pk}), ("30", {worked["fast"].pk, work.pk})):
        row = ranking(operator, days=days)["Rival"]
        listed = operator.get(row.links["shipped"]).context["cl"].result_list
        assert {each.pk for each in listed} == shipped
        assert row.performance.now.shipped == len(shipped)
        assert operator.get(row.links["late"]).context["cl"].result_count == row.performance.now.late == 0


@pytest.mark.parametrize("days", ["0001-01-01.9999-12-31", "0001-01-01.2026-01-01", "2026-01-01.9999-12-31"])
def test_a_link_with_impossible_days_is_refused_as_other_wrong_filters(operator, days):
    wrong = operator.get("/admin/fulfillments/fulfillment/", {"counted": f"late.{days}.0.0"})
    assert wrong["Location"] == "/admin/fulfillments/fulfillment/?e=1"


def test_a_partnership_can_have_its_own_targets(operator, worked, acme, shop):
    partnership = acme.partnerships.get(retailer=shop)
    values = {"partnership": partnership.pk, "on_time_percent": 90, "most_refused_percent": 5}
    add = "/admin/fulfillments/performancetarget/add/"
    assert operator.post(add, {**values, "ship_within_hours": 168}).status_code == 302
    assert "exist already" in operator.post(add, {**values, "ship_within_hours": 24}).text
    assert Event.objects.get(type="performance_target.created").supplier == acme
    assert PerformanceTarget.objects.count() == 1
    rows = ranking(operator)
    now = rows["Acme"].performance.now
    assert (now.on_time_percent, now.on_time_goal, now.is_too_late) == (100, 90, False)
    assert operator.get(rows["Acme"].links["late"]).context["cl"].result_count == 0


def test_the_numbers_of_the_days_before_are_shown_too(operator, worked, acme, shop):
    before = timezone.now().date() - timedelta(days=8)
    DailySum(supplier_id=acme.pk, retailer_id=shop.pk, day=before, measure="created", count=4).save()
    assert ranking(operator, days="7")["Acme"].performance.more_received == -50
    assert "-50.0 %" in operator.get(PATH, {"days": "7"}).text


def test_retailers_are_ranked_too_and_can_be_exported(operator, support, worked):
    assert set(ranking(operator, of="retailer")) == {"Shop", "Boutique"}
    answer = support.get("/admin/performance.csv", {"of": "retailer", "days": "30"})
    rows = [*csv.DictReader(answer.getvalue().decode("utf-8-sig").splitlines())]
    assert {row["name"]: row["refused"] for row in rows} == {"Shop": "0", "Boutique": "1"}


def test_the_ranking_costs_the_same_for_many_partners(operator, worked, acme, rival, shop, boutique):
    def asked():
        with CaptureQueriesContext(connection) as sent:
            operator.get(PATH)
        return len(sent)

    DailySum.objects.filter(supplier_id=rival.pk).delete()
    before = asked()
    for supplier in (acme, rival):
        for retailer in (shop, boutique):
            day = timezone.now().date() - timedelta(days=1)
            DailySum(
                supplier_id=supplier.pk, retailer_id=retailer.pk, day=day, measure="created", count=4
            ).save()
    assert asked() == before


def test_a_retailers_scorecard_ranks_its_suppliers_and_its_numbers_lead_to_its_orders(operator, worked, shop):
    rows = ranking(operator, of="retailer")
    assert rows["Shop"].url == f"/admin/accounts/retailer/{shop.pk}/scorecard/"
    page = operator.get(rows["Shop"].url, {"days": "90"})
    assert {row.party.name: row.performance.now.received for row in page.context["rows"]} == {
        "Acme": 2,
        "Rival": 1,
    }
    assert page.context["performance"].now.received == 3
    received = operator.get(page.context["links"]["received"]).context["cl"].result_list
    assert {each.pk for each in received} == {worked[name].pk for name in ("late", "open", "fast")}
    assert operator.get("/admin/accounts/retailer/0/scorecard/").status_code == 404


def test_the_counts_of_acceptances_and_doubtful_parcels_lead_to_their_fulfillments(operator, worked, acme):
    page = operator.get(f"/admin/accounts/supplier/{acme.pk}/scorecard/")
    assert [counted for _, _, counted in page.context["times"]] == ["", "accepted", "shipped"]
    [accepted] = operator.get(page.context["links"]["accepted"]).context["cl"].result_list
    assert accepted.pk == worked["late"].pk
    [open_now] = re.findall(r'href="([^"]*open=[^"]*)"', page.text)
    listed = operator.get(html.unescape(open_now)).context["cl"].result_list
    assert len(listed) == page.context["card"].open_now
    doubtful = operator.get(page.context["links"]["doubtful_tracking"]).context["cl"].result_list
    assert len(doubtful) == page.context["counts"]["doubtful_tracking"]
