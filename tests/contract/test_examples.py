"""The examples in the OpenAPI document work: the test sends each request and compares the answer.

`UPDATE_EXAMPLES=1 pytest tests/contract/test_examples.py` writes the examples whose fields have changed.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from api import docs
from api.openapi.examples import FOLDER
from fulfillments.models import Fulfillment, Shipment
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tests import described
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory
from tests.orders.push_bodies import an_order
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db

METHODS = ("get", "put", "post", "patch", "delete")
SECRETS = ("access_token", "secret")
MOST_KEPT = 2
"""The maximum number of elements of an array in an example."""


class Scenario:
    """A client that sends the examples in a fixed order, with the ids of this run in paths and bodies."""

    def __init__(self, operations: dict[str, tuple[str, str]], clients: dict[str, ApiClient]) -> None:
        self.operations, self.clients = operations, clients
        self.ids: dict[str, int] = {}
        self.played: set[str] = set()

    def play(self, operation_id: str, query: str = "", **known: Any) -> Any:
        """Send the example of an operation, and return the answer.

        The answer must have the documented fields.
        """
        path, method = self.operations[operation_id]
        ids = self.ids | known
        filled = re.sub(r"\{(\w+)\}", lambda found: str(ids[found[1]]), path)
        file = FOLDER / f"{operation_id}.json"
        example = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        body = self._own(example["request"], known) if "request" in example else None
        client = self.clients["retailer" if "/retailers/" in path else "supplier"]
        answer = client.request(method.upper(), filled + query, body)
        assert answer.status_code in (200, 201, 202), f"{operation_id}: {answer.content!r}"
        described.check(answer, method, filled + query)
        self.played.add(operation_id)
        shown = json.loads(b"".join(answer.streaming_content) if answer.streaming else answer.content)
        recorded = {**example, "status": answer.status_code, "answer": shortened(shown)}
        if os.environ.get("UPDATE_EXAMPLES") and fields_of(recorded) != fields_of(example):
            text = json.dumps(recorded, indent=2, ensure_ascii=False).replace(
                "http://testserver", "https://exchange.invalid"
            )
            file.write_text(text + "\n", encoding="utf-8")
        elif not os.environ.get("UPDATE_EXAMPLES"):
            assert has(recorded["answer"], example.get("answer")), f"{operation_id}: set UPDATE_EXAMPLES=1"
        return shown

    def _own(self, body: Any, known: dict[str, Any]) -> Any:
        """Return the body of an example with the ids and secrets of this run."""
        if isinstance(body, list):
            return [self._own(each, known) for each in body]
        if isinstance(body, dict):
            return {
                name: known[name] if name in known else self._own(each, known) for name, each in body.items()
            }
        return body


def shortened(shown: Any) -> Any:
    if isinstance(shown, list):
        return [shortened(each) for each in shown[:MOST_KEPT]]
    if isinstance(shown, dict):
        return {name: "…" if name in SECRETS else shortened(each) for name, each in shown.items()}
    return shown


def fields_of(shown: Any) -> Any:
    """Return the fields of an example with the types of their values. The values differ in each run."""
    if isinstance(shown, dict):
        return {name: fields_of(each) for name, each in shown.items()}
    return [fields_of(each) for each in shown] if isinstance(shown, list) else type(shown).__name__


def has(shown: Any, example: Any) -> bool:
    """Return whether an answer has all fields of its example."""
    if isinstance(example, dict):
        return isinstance(shown, dict) and all(
            name in shown and has(shown[name], each) for name, each in example.items()
        )
    if isinstance(example, list) and isinstance(shown, list):
        return not (example and shown) or has(shown[0], example[0])
    return example is not None or shown is None


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(docs.document())
    return found


@pytest.fixture
def operations(document) -> dict[str, tuple[str, str]]:
    return {
        item[method]["operationId"]: (path, method)
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    }


@pytest.fixture
def scenario(operations, acme, shop, client_for, settings, tmp_path, monkeypatch) -> Scenario:
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda _: None)
    scenario = Scenario(operations, {"supplier": client_for(acme), "retailer": client_for(shop)})
    scenario.ids = {"supplier_id": acme.pk, "retailer_id": shop.pk}
    return scenario


def test_each_example_request_works_and_gets_the_example_answer(scenario, document, acme, shop):
    key, secret = IssuedKeyFactory.create(party=shop)
    scenario.play("create_token", client_id=key.prefix, client_secret=secret)
    for name in ("get_supplier", "list_warehouses", "list_uploads"):
        scenario.play(name)
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True).pk
    variants(scenario, acme, warehouse)
    work, lines = orders(scenario, acme)
    fulfillments(scenario, acme, work, lines)
    for name in (
        "list_inventory",
        "list_inventory_movements",
        "list_supplier_events",
        "list_retailer_events",
    ):
        scenario.play(name)
    for role in ("supplier", "retailer"):
        webhooks(scenario, role)

    taking = {
        item[method]["operationId"]
        for item in document["paths"].values()
        for method in METHODS
        if "requestBody" in item.get(method, {})
    }
    assert taking - scenario.played == set()
    assert {path.stem for path in FOLDER.glob("*.json")} == scenario.played


@pytest.mark.skipif("UPDATE_EXAMPLES" in os.environ, reason="the other test is writing the examples")
def test_no_example_lacks_a_field_of_the_document(operations):
    """Developers of clients copy the examples, so each example must have all fields of the document."""
    wrong: dict[str, list[str]] = {}
    for path in FOLDER.glob("*.json"):
        example = json.loads(path.read_text(encoding="utf-8"))
        place, method = operations[path.stem]
        found = described.validator(place, method, example["status"])
        if found is not None and "answer" in example:
            errors = [each.message for each in found.iter_errors(example["answer"])]
            wrong |= {path.stem: errors} if errors else {}
    assert wrong == {}, "write these examples again, with UPDATE_EXAMPLES=1"


def webhooks(scenario: Scenario, role: str) -> None:
    scenario.ids["webhook_id"] = scenario.play(f"create_{role}_webhook")["id"]
    for name in ("list_{}_webhooks", "get_{}_webhook", "change_{}_webhook", "test_{}_webhook"):
        scenario.play(name.format(role))
    for name in ("replay_{}_webhook", "list_{}_webhook_deliveries", "rotate_{}_webhook"):
        scenario.play(name.format(role))


def variants(scenario: Scenario, acme: Any, warehouse: int) -> None:
    scenario.ids["variant_id"] = scenario.play("create_variant")["id"]
    for name in ("update_variant", "change_variant", "get_supplier_variant", "get_variant", "list_variants"):
        scenario.play(name)
    scenario.ids["import_id"] = scenario.play("import_products")["id"]
    run_job(scenario.ids["import_id"])
    for name in ("get_import", "list_imports"):
        scenario.play(name)
    (area_of(acme) / "inventory/stock.csv").write_text("sku,quantity\nGUIDE-3,7\n")
    run_job(scenario.play("import_inventory", warehouse_id=warehouse)["id"])
    scenario.ids["mapping_id"] = scenario.play("create_mapping")["id"]
    for name in ("get_mapping", "update_mapping", "list_mappings"):
        scenario.play(name)
    scenario.play("push_inventory", warehouse_id=warehouse)
    for name in ("update_import_policy", "get_import_policy", "update_auto_import_products"):
        scenario.play(name)
    scenario.play("update_auto_import_inventory", warehouse_id=warehouse)
    for name in ("get_auto_import_products", "get_auto_import_inventory"):
        scenario.play(name)
    scenario.play("pull_variants", "?service_type=ecommerce")


def orders(scenario: Scenario, acme: Any) -> tuple[int, list[int]]:
    scenario.play("get_retailer")
    scenario.ids["order_id"] = scenario.play("push_order")["order_id"]
    for name in ("get_order", "list_orders", "get_order_filters", "get_order_routing", "change_order"):
        scenario.play(name)
    work = scenario.play("list_fulfillments")[0]
    lines = [line["id"] for line in work["lines"] if line["sku"] == "GUIDE-1"]
    return work["id"], lines


def fulfillments(scenario: Scenario, acme: Any, work: int, lines: list[int]) -> None:
    scenario.ids["fulfillment_id"] = work
    scenario.play("accept_fulfillment")
    scenario.play("cancel_order")
    scenario.play("answer_cancelation", supplier_id=acme.pk, fulfillment_id=work)
    scenario.play("ship_fulfillment", id=lines[0])
    scenario.play("ship_parcels", id=work)
    parcel = Shipment.objects.get(tracking_number="1Z999AA10123456785").pk
    scenario.play("correct_shipment", shipment_id=parcel)
    scenario.play("record_return")
    scenario.play("save_invoice")
    scenario.play("get_fulfillment")
    scenario.play("reject_lines", id=work)
    assert Fulfillment.objects.get(pk=work).state in ("shipped", "accepted")
    for reason in ("out_of_stock", "wrong_address", "missing_sku"):
        scenario.clients["retailer"].post("orders", an_order({"sku": "GUIDE-1", "quantity": 1}))
        scenario.play(f"reject_{reason}", fulfillment_id=Fulfillment.objects.latest("pk").pk)
