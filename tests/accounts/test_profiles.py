"""Each party reads only its own profile."""

import pytest

from tests.factories import PartnershipFactory

pytestmark = pytest.mark.django_db


def test_a_supplier_reads_itself_and_its_partners(acme, shop, boutique, client_for):
    body = client_for(acme).get("").json()

    assert (body["id"], body["name"]) == (acme.pk, "Acme")
    assert body["partnerships"] == [
        {
            "retailer_id": shop.pk,
            "retailer_name": "Shop",
            "retailer_erp_id": "ERP-Acme",
            "retailer_shipper_account": "UPS-77",
            "service_types": ["ecommerce", "marketplace", "wholesale"],
            "is_active": True,
            "cancel_before_capture": "ask",
        }
    ]


def test_a_retailer_reads_itself_and_its_partners(shop, acme, rival, client_for):
    body = client_for(shop).get("").json()
    assert [each["supplier_name"] for each in body["partnerships"]] == ["Acme", "Rival"]
    assert "retailer_erp_id" not in body["partnerships"][0]


def test_the_parameter_fields_selects_fields(acme, client_for):
    client = client_for(acme)
    assert client.get("?fields=name,id").json() == {"id": acme.pk, "name": "Acme"}
    answer = client.get("?fields=digest").json()
    assert (answer["code"], answer["errors"][0]["field"]) == ("validation_error", "fields")


def test_another_party_is_403_whether_it_exists_or_not(acme, rival, shop, client_for):
    answers = [client_for(acme).get(path) for path in (f"/v3/suppliers/{rival.pk}", "/v3/suppliers/999999")]
    bodies = [{**answer.json(), "request_id": ""} for answer in answers]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert bodies[0] == bodies[1]
    assert client_for(acme).get(f"/v3/retailers/{shop.pk}").status_code == 403


@pytest.mark.parametrize("partners", [1, 5])
def test_more_partners_cost_no_more_queries(acme, client_for, partners, django_assert_num_queries):
    PartnershipFactory.create_batch(partners, supplier=acme)
    client = client_for(acme)
    client.get("")
    with django_assert_num_queries(3):  # queries: the key, its party, the partnerships with their retailers
        assert len(client.get("").json()["partnerships"]) == partners
