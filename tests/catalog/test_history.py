"""The history of a variant has old and new values, and their source: a key, person, file or rejection."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from accounts.actors import Actor
from catalog.importing.importer import ProductImporter
from catalog.models import Variant, VariantChange
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)


def changes(variant):
    return [each.changed for each in VariantChange.objects.filter(variant_id=variant.pk).order_by("id")]


def test_changes_by_keys_and_people_keep_old_and_new_values(acme, client_for, a_variant):
    lantern = a_variant(acme, "LAN-1", retail_price="19.99")
    client_for(acme).request("PATCH", f"variants/{lantern.pk}", {"retail_price": 21, "title": "Lamp"})
    lantern.change({"retail_price": Decimal(22)}, by=Actor.system("x"))
    first, second = VariantChange.objects.order_by("id")
    assert first.changed == {
        "retail_price": {"from": "19.99", "to": "21"},
        "title": {"from": "Acme LAN-1", "to": "Lamp"},
    }
    assert first.actor.startswith("key:")
    assert first.request_id
    assert (second.changed, second.actor) == ({"retail_price": {"from": "21", "to": "22"}}, "system:x")


def test_the_history_names_the_line_of_the_file_that_changed_a_variant(acme, client_for, a_variant):
    lantern = a_variant(acme, "LAN-1", retail_price="19.99", wholesale_price="10.50")
    same = a_variant(acme, "SAME", retail_price="5", title="Same")
    file = "sku,title,retail_price,wholesale_price\nNEW,New,1,1\nLAN-1,Lamp,20,\nSAME,Same,5,\n"
    made = client_for(acme).post("importProducts", {"data": file.splitlines()}).json()
    run_job(made["id"])
    job = ImportJob.objects.get(pk=made["id"])
    assert (job.created, job.updated) == (1, 1)
    [change] = VariantChange.objects.all()
    assert (change.variant_id, change.import_id, change.line) == (lantern.pk, job.pk, 3)
    assert change.changed == {
        "title": {"from": "Acme LAN-1", "to": "Lamp"},
        "retail_price": {"from": "19.99", "to": "20"},
        "wholesale_price": {"from": "10.5"},
    }
    assert changes(same) == []


def test_a_file_changes_a_variant_created_during_the_import(acme, client_for, a_variant, monkeypatch):
    """The variant is created after the import has begun. Its change still has a history with all columns."""
    land = ProductImporter.land

    def landing(self, context):
        monkeypatch.setattr(ProductImporter, "land", land)
        a_variant(acme, "LAN-1", title="Old", retail_price="20", wholesale_price="1")
        return land(self, context)

    monkeypatch.setattr(ProductImporter, "land", landing)
    columns = "sku,title,retail_price,wholesale_price,listed,gtin"
    rows = ["NEW,New,1,1,true,", "LAN-1,Lamp,20,1,false,4006381333931"]
    made = client_for(acme).post("importProducts", {"data": [columns, *rows]}).json()
    run_job(made["id"])
    job = ImportJob.objects.get(pk=made["id"])
    assert (job.created, job.updated) == (1, 1)
    lantern = Variant.objects.get(sku="LAN-1")
    assert (lantern.title, lantern.listed, lantern.ean) == ("Lamp", False, "4006381333931")
    assert changes(lantern) == [
        {
            "title": {"from": "Old", "to": "Lamp"},
            "listed": {"from": "true", "to": "false"},
            "gtin": {"from": "", "to": "4006381333931"},
            "ean": {"from": "", "to": "4006381333931"},
        }
    ]


def test_the_history_shows_that_a_rejection_delisted_the_variant(acme, shop, client_for, a_variant):
    lantern = a_variant(acme, "LAN-1", stock=5)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    [work] = client_for(acme).get("fulfillments").json()
    client_for(acme).put(f"fulfillments/{work['id']}/setStatus/missing_sku")
    assert changes(lantern) == [{"listed": {"from": True, "to": False}}]


def test_a_save_without_a_change_leaves_no_history(acme, client_for, a_variant):
    lantern = a_variant(acme, "LAN-1", retail_price="19.99")
    client_for(acme).request("PATCH", f"variants/{lantern.pk}", {"retail_price": 19.99})
    assert changes(lantern) == []


def test_the_page_shows_prices_and_stock_with_their_sources(acme, client_for, a_variant, admin_client):
    lantern = a_variant(acme, "LAN-1", stock=7, retail_price="19.99")
    client_for(acme).request("PATCH", f"variants/{lantern.pk}", {"retail_price": 21})
    file = "sku,title,retail_price\nLAN-1,Lamp,23.5\n"
    made = client_for(acme).post("importProducts", {"data": file.splitlines()}).json()
    run_job(made["id"])
    page = admin_client.get(f"/admin/catalog/variant/{lantern.pk}/change/").text
    assert "<td>19.99</td><td>21</td>" in page
    assert "<td>21</td><td>23.5</td>" in page
    assert f">import {made['id']}</a>, line 2" in page
    cells = re.sub(r'\n| data-label="[^"]+"', "", page)
    assert "Acme East</a></td><td>7</td><td>0</td><td>7</td>" in cells
