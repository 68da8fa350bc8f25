"""An error of a stock push names its element by position and identifier."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("element", "identifier"),
    [
        ({"id": None, "sku": "A-1"}, "A-1"),
        ({"id": "A-1", "sku": None}, "A-1"),
        ({"id": "A-1", "sku": "B-1"}, "A-1"),
        ({"id": None}, None),
    ],
)
def test_a_null_beside_the_identifier_does_not_hide_it(acme, client_for, element, identifier):
    warehouse = acme.warehouses.first().pk
    body = {"warehouse_id": warehouse, "inventories": [{"sku": "X"}, {**element, "quantity": -1}]}

    error = client_for(acme).post("inventory", body).json()["errors"][1]

    assert (error["index"], error["id"]) == (1, identifier)
