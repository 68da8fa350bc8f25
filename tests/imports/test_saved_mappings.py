"""Named mappings are saved, read, changed, deleted, and used by imports."""

from __future__ import annotations

import pytest

from catalog.models import Variant
from events.models import Event
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from imports.sweeping import take_uploads
from tests.factories import UploadFactory

OURS = {
    "name": "our-erp",
    "field_mapping": ["No:sku", {"source_field": "Text", "destination_field": "title"}, "Cost:price"],
    "math_transformer": "wholesale_price = retail_price / 2",
    "rows": {"product_fields": ["Group"], "repeat_fields": ["Text"]},
}
DATA = ["No,Text,Cost,Group", "A-1,Lamp,10,lamps", "A-2,,12,", "B-1,Rug,5,rugs", "B-2,,6,rugs"]


@pytest.fixture
def client(acme, client_for):
    return client_for(acme)


def test_every_supplier_can_read_the_mappings_of_the_service(client, rival, client_for):
    listed = client.get("mappings").json()["results"]

    assert all(each["built_in"] for each in listed)
    assert [each["name"] for each in listed] == [
        *("shopify", "woocommerce", "magento", "google", "facebook"),
        *("etsy", "wix", "prestashop", "bigcommerce", "amazon"),
    ]
    one = client_for(rival).get(f"mappings/{listed[0]['id']}").json()
    assert one == listed[0]
    assert one["rows"]["sku_template"].startswith("{Handle|URL handle}-{Option1 Value}")
    assert {"source_field": "Variant SKU", "destination_field": "sku", "optional": True} in one[
        "field_mapping"
    ]


def test_the_answer_of_a_mapping_can_be_saved_as_a_new_one(client, acme, ran):
    shopify = client.get("mappings/1").json()

    saved = client.post("mappings", {**shopify, "name": "my-shopify"})

    assert saved.status_code == 201, saved.json()
    for key in ("field_mapping", "rows", "math_transformer"):
        assert saved.json()[key] == shopify[key]
    data = ["Handle,Title,Option1 Name,Option1 Value,Variant Price", "a,A,Size,S,1", "a,,,M,2"]
    assert ran(acme, mapping="my-shopify", data=data)["created"] == 2


def test_an_import_keeps_the_saved_mapping_of_its_start(client, acme, ran):
    saved = client.post("mappings", OURS).json()
    started = client.post("importProducts", {"data": DATA, "mapping": "our-erp"}).json()
    client.put(f"mappings/{saved['id']}", {**OURS, "math_transformer": ""})

    run_job(started["id"])

    landed = [(each.sku, each.title, str(each.wholesale_price)) for each in Variant.objects.order_by("sku")]
    assert landed == [
        ("A-1", "Lamp", "5.0000"),
        ("A-2", "Lamp", "6.0000"),
        ("B-1", "Rug", "2.5000"),
        ("B-2", "Rug", "3.0000"),
    ]


def test_fields_of_the_request_override_its_mapping(client, acme, ran):
    client.post("mappings", OURS)

    ran(
        acme,
        mapping="our-erp",
        data=DATA,
        field_mapping=["Group:title"],
        rows={"repeat_fields": ["Group"]} | {"product_fields": ["Group"]},
    )

    assert Variant.objects.get(sku="B-2").title == "rugs"
    assert Variant.objects.get(sku="A-2").title == "lamps"


def test_an_automatic_import_uses_the_current_mapping(client, acme, upload):
    saved = client.post("mappings", OURS).json()
    assert client.put("autoImports/products", {"mapping": "our-erp"}).status_code == 200
    client.put(f"mappings/{saved['id']}", {**OURS, "math_transformer": "wholesale_price = 1"})
    path = upload(acme, "\n".join(DATA), "products/a.csv")
    UploadFactory.create(supplier=acme, path=path)

    take_uploads()
    run_job(ImportJob.objects.get().pk)

    assert Variant.objects.get(sku="A-2").wholesale_price == 1
    kept = client.get("autoImports/products").json()["options"]
    assert (kept["mapping"], kept["field_mapping"]) == ("our-erp", [])


def test_a_mapping_that_an_automatic_import_names_can_be_neither_deleted_nor_renamed(client):
    saved = client.post("mappings", OURS).json()
    client.put("autoImports/products", {"mapping": "our-erp"})

    refused = client.request("DELETE", f"mappings/{saved['id']}")
    renamed = client.put(f"mappings/{saved['id']}", {**OURS, "name": "other"})

    assert (refused.status_code, refused.json()["code"]) == (409, "mapping_in_use")
    assert renamed.json()["code"] == "mapping_in_use"
    client.put("autoImports/products", {"mapping": "shopify"})
    assert client.request("DELETE", f"mappings/{saved['id']}").status_code == 204
    assert client.get(f"mappings/{saved['id']}").status_code == 404


def test_each_change_of_a_mapping_is_an_event(client):
    saved = client.post("mappings", OURS).json()
    client.put(f"mappings/{saved['id']}", {**OURS, "name": "new"})
    client.request("DELETE", f"mappings/{saved['id']}")

    types = (
        Event.objects.filter(type__startswith="import_mapping.").order_by("pk").values_list("type", flat=True)
    )
    assert list(types) == ["import_mapping.created", "import_mapping.updated", "import_mapping.deleted"]


def test_the_service_keeps_its_own_and_each_supplier_its_names(client, rival, client_for):
    client.post("mappings", OURS)

    again, theirs = client.post("mappings", OURS), client_for(rival).post("mappings", OURS)

    assert (again.status_code, again.json()["code"]) == (409, "mapping_exists")
    assert theirs.status_code == 201
    assert client.put("mappings/1", OURS).status_code == 403
    assert client.request("DELETE", "mappings/2").status_code == 403
    assert client.get(f"mappings/{theirs.json()['id']}").status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "shopify"}, "name"),
        ({"name": "auto"}, "name"),
        ({"name": "Our ERP"}, "name"),
        ({"kind": "inventory"}, "kind"),
        ({"field_mapping": ["A:colour"]}, "field_mapping[0]"),
        ({"rows": {"repeat_fields": ["Text"]}}, "rows.product_fields"),
        ({"rows": {"product_fields": ["A"], "variant_fields": ["B"]}}, "rows.picture_fields"),
        ({"rows": {"sku_template": "Handle"}}, "rows.sku_template"),
        ({"rows": {"sku_template": "{Handle"}}, "rows.sku_template"),
        ({"rows": {"repeat_field": ["A"]}}, "rows.repeat_field"),
        ({"rows": {"group_rows": {"field": "Type"}}}, "rows.group_rows.values"),
        ({"rows": {"blank_values": [5]}}, "rows.blank_values[0]"),
        (
            {"field_mapping": [{"source_field": "A", "destination_field": "title", "values": {"a": 1}}]},
            "field_mapping[0].values",
        ),
        (
            {"field_mapping": [{"source_field": "A", "destination_field": "title", "name_field": "B"}]},
            "field_mapping[0].name_field",
        ),
        (
            {"field_mapping": [{"source_field": "A", "destination_field": "images", "relativeUrls": "x"}]},
            "field_mapping[0].relative_urls",
        ),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_and_names_the_field(client, change, field):
    answer = client.post("mappings", {**OURS, **change})

    assert answer.status_code == 400, answer.json()
    assert field in [each["field"] for each in answer.json()["errors"]], answer.json()


def test_an_unknown_mapping_is_refused_with_the_known_ones(client):
    answer = client.post("importProducts", {"data": DATA, "mapping": "shopfy"})

    [error] = answer.json()["errors"]
    assert error["field"] == "mapping"
    assert "there are shopify, woocommerce, magento, google," in error["message"]
    assert "amazon, auto. Did you mean `shopify`?" in error["message"]
    automatic = client.put("autoImports/products", {"mapping": "nowhere"})
    assert (automatic.status_code, automatic.json()["errors"][0]["field"]) == (400, "mapping")


def test_a_column_that_the_rows_depend_on_and_that_is_absent_fails_the_file(client, acme, ran):
    client.post("mappings", OURS)

    job = ran(acme, mapping="our-erp", data=["No,Text,Cost", "A-1,Lamp,10"])

    assert job["error"] == {
        "code": "missing_column",
        "message": "The file has no column 'Group', which product_fields of the mapping names.",
    }
