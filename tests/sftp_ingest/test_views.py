"""`GET /v3/suppliers/{id}/uploads`."""

from __future__ import annotations

import re

import pytest
from drf_spectacular.generators import SchemaGenerator

from accounts.models import Supplier
from accounts.scopes import Scope
from sftp_ingest.models import Upload
from sftp_ingest.serializers import UploadJson
from sftp_ingest.urls import urlpatterns
from tests.factories import UploadFactory

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture
def uploads(acme: Supplier, rival: Supplier) -> list[Upload]:
    UploadFactory.create(supplier=rival, path="products/secret.csv")
    return [
        UploadFactory.create(
            supplier=acme, path=f"products/{n}.csv", size=n, sha256="a" * 64, remote_address="192.0.2.7"
        )
        for n in range(3)
    ]


def test_a_supplier_sees_its_uploads_newest_first(acme: Supplier, uploads, client_for):
    response = client_for(acme).get("uploads")

    assert response.status_code == 200
    found = response.json()
    assert [item["path"] for item in found] == ["products/2.csv", "products/1.csv", "products/0.csv"]
    assert MOMENT.fullmatch(found[0].pop("uploaded_at"))
    assert found[0] == {
        "id": uploads[2].pk,
        "path": "products/2.csv",
        "size": 2,
        "sha256": "a" * 64,
        "remote_address": "192.0.2.7",
    }


def test_pages_follow_each_other(acme: Supplier, uploads, client_for):
    client = client_for(acme)
    first = client.get("uploads", {"limit": 2})
    next_url = re.match(r'<http://testserver(.*?)>; rel="next"', first.headers["Link"])
    assert next_url
    second = client.get(next_url[1])

    assert [item["size"] for item in first.json()] == [2, 1]
    assert [item["size"] for item in second.json()] == [0]
    assert 'rel="next"' not in second.headers["Link"]


@pytest.mark.parametrize("scope", [Scope.CATALOG_READ, Scope.INVENTORY_READ])
def test_each_of_these_scopes_allows_to_read_uploads(acme: Supplier, uploads, client_for, scope: Scope):
    assert client_for(acme, scopes=[scope]).get("uploads").status_code == 200


def test_other_parties_and_keys_without_the_scope_may_not_read_uploads(
    acme: Supplier, rival: Supplier, shop, uploads, client_for, anonymous
):
    path = f"/v3/suppliers/{acme.pk}/uploads"

    assert anonymous.get(path).status_code == 401
    assert client_for(rival).get(path).status_code == 403
    assert client_for(shop).get(path).status_code == 403
    assert client_for(acme, scopes=[Scope.FULFILLMENTS_READ]).get(path).status_code == 403
    assert client_for(acme).post("uploads", {}).status_code == 405


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": "x"}, {"cursor": "x"}])
def test_wrong_parameters_are_refused(acme: Supplier, client_for, params):
    assert client_for(acme).get("uploads", params).status_code == 400


def test_a_list_of_any_length_costs_two_queries(
    acme: Supplier, uploads, client_for, django_assert_num_queries
):
    client = client_for(acme)
    # Store the use of the key now: this costs a query once a minute.
    client.get("uploads")
    with django_assert_num_queries(2):  # queries: the key with its party, the page
        client.get("uploads")


def test_the_schema_describes_the_answer():
    schema = SchemaGenerator(patterns=urlpatterns).get_schema(public=True)
    answer = schema["paths"]["/v3/suppliers/{supplier_id}/uploads"]["get"]["responses"]["200"]
    name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    shapes = schema["components"]["schemas"]

    assert shapes[name] == {"type": "array", "items": {"$ref": "#/components/schemas/Upload"}}
    assert set(shapes["Upload"]["required"]) == set(UploadJson.__annotations__)
