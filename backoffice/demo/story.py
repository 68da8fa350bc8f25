"""One order from upload to completion, through the public interface only (`make demo`).

Every play makes an order of its own and counts the stock afresh, so it can be played again at any time.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backoffice.demo import sftp
from backoffice.demo.client import Answer, Caller, StoryError
from backoffice.demo.credentials import Demo, PartyEntry, SupplierEntry
from backoffice.demo.telling import Teller

SAMPLES = Path(__file__).with_name("samples")
PATIENCE = 90.0  # seconds that an import may take before the story gives up
TRAY = "810020000023"  # the UPC under which both suppliers sell it

WOOCOMMERCE = {
    "field_mapping": [
        "SKU:sku",
        "Name:title",
        "Parent:model",
        "ID:id_in_source",
        "Short description:description",
        "Description:description_extra",
        "Regular price:retail_price",
        "Sale price:special_sale_price",
        "Weight (lbs):weight",
        "Images:images",
        "Meta: _upc:upc",
    ],
    "math_transformer": "wholesale_price = round(retail_price * 0.55, 2); weight = round(weight * 0.4536, 3)",
}
SHOPIFY = {
    "field_mapping": [
        "Variant SKU:sku",
        "Title:title",
        "Handle:model",
        "Body (HTML):description",
        "Variant Price:retail_price",
        "Variant Barcode:upc",
        "Variant Grams:weight",
        "Image Src:images",
    ],
    "math_transformer": "wholesale_price = round(retail_price * 0.6, 2); weight = weight / 1000",
}
CONSUMER = {
    "first_name": "Ada",
    "last_name": "Berg",
    "address1": "12 Harbour Street",
    "city": "Portland",
    "state": "ME",
    "zip_code": "04101",
    "country": "US",
    "phone_number": "+1 207 555 0142",
    "email": "ada.berg@example.com",
}


class Story:
    """The cast, and what they do; each scene fails with a StoryError that says what went otherwise."""

    def __init__(self, demo: Demo, teller: Teller) -> None:
        self.demo, self.tell = demo, teller
        self.acme, self.rival = demo["suppliers"][:2]
        self.shop = demo["retailers"][0]
        self.name = f"DEMO-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        self.last_seen = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        self.order_id = 0

    def play(self) -> None:
        """All scenes, in order."""
        self.load_products(self.acme, "acme-woocommerce.csv", WOOCOMMERCE, "a shop's export from WooCommerce")
        self.load_products(self.rival, "rival-shopify.csv", SHOPIFY, "an export from Shopify")
        self.count_stock()
        self.pull_and_push()
        mug, tray = self.capture_new()
        self.accept_and_ship(self.acme, mug)
        self.restock_and_reject(tray)
        self.cancel_and_refuse()
        self.poll_until_completed()
        self.tell.end(
            f"Order {self.order_id} ({self.name}) is completed: {self.tell.step_number} steps"
            f" in {self.tell.seconds:.1f} s."
        )

    # --- Scenes ----------------------------------------------------------------------------------

    def load_products(self, supplier: SupplierEntry, file: str, mapping: dict[str, Any], kind: str) -> None:
        self.tell.step(f"{supplier['name']} uploads its products by SFTP: {kind}")
        area = self._area(supplier)
        started = time.perf_counter()
        client = sftp.put(area, SAMPLES / file, f"products/{file}")
        shown = f"{client} -P {area.port} {area.username}@{area.host}  put {file} products/{file}"
        self.tell.action(shown, time.perf_counter() - started)

        self.tell.step(f"{supplier['name']} starts the import: which column is what, and what is computed")
        caller = self._caller("suppliers", supplier)
        address = f"sftp://{area.host}:{area.port}/products/{file}"
        job = self._expect(caller.post("importProducts", {"file_url": address, **mapping}), 201)
        self.tell.say(f"import {job['id']} is {job['status']}")
        self._await_import(caller, job["id"])

    def count_stock(self) -> None:
        self.tell.step("Both count their stock and push it: the tray is only at Rival's")
        self._push_stock(self.acme, {"ACME-MUG": 100, "ACME-TEE-M": 40, "ACME-TEE-L": 40, "ACME-TRAY": 0})
        self._push_stock(self.rival, {"RIV-TRAY": 50, "RIV-CANDLE": 50})

    def pull_and_push(self) -> None:
        self.tell.step("Shop pulls what it may sell")
        shop = self._caller("retailers", self.shop)
        groups = self._expect(shop.get("variants?service_type=ecommerce"), 200)
        mug = next((group for group in groups if group["model"] == "ACME-MUG"), None)
        self._require(mug is not None, "the pull does not show the mug that Acme has just imported")
        self.tell.say(
            f"{len(groups)} groups; one is {mug['title']!r}: {mug['available_inventory']} in stock,"
            f" wholesale {mug['wholesale_price_min']}, retail {mug['retail_price_min']}"
        )

        self.tell.step("Shop pushes an order: two mugs of Acme's, and one tray from whoever has it")
        order = {
            "retailer_order_id": self.name,
            "shipping_address": CONSUMER,
            "shipping_method_code": "GROUND",
            "order_lines": [
                {"variant_id": mug["variants"][0], "quantity": 2, "billed_amount": 29.00},
                {"upc": TRAY, "quantity": 1, "billed_amount": 58.00},
            ],
            "notes": [{"name": "packing", "value": "No invoice in the parcel."}],
        }
        answer = shop.post("orders", order)
        pushed = self._expect(answer, 201, code="order_created")
        self.order_id = pushed["order_id"]
        self.tell.say(f"{pushed['code']}: order {self.order_id}, at {answer.headers['Location']}")

    def capture_new(self) -> tuple[int, int]:
        self.tell.step("Both suppliers capture their new work")
        wanted = {"retailer_state": "ordered", "fulfillment_state": "new"}
        mug = self._captured(self.acme, wanted)
        tray = self._captured(self.rival, wanted)
        return mug["id"], tray["id"]

    def accept_and_ship(self, supplier: SupplierEntry, fulfillment: int) -> None:
        self.tell.step(f"{supplier['name']} accepts, and ships with a tracking number")
        self._set_status(supplier, fulfillment, "accepted")
        self._set_status(supplier, fulfillment, "shipped", {"tracking_number": f"1Z{self.name}"})

    def restock_and_reject(self, tray: int) -> None:
        self.tell.step("Trays arrive at Acme's; at Rival's the last one turns out to be broken: out of stock")
        self._push_stock(self.acme, {"ACME-TRAY": 12})
        self._set_status(self.rival, tray, "out_of_stock")

    def cancel_and_refuse(self) -> None:
        self.tell.step("The tray was routed again, to Acme, who captures it")
        again = self._captured(self.acme, {"retailer_state": "ordered", "fulfillment_state": "new"})
        tray = again["id"]

        self.tell.step("Shop asks for the order back")
        shop = self._caller("retailers", self.shop)
        asked = self._expect(
            shop.post(f"orders/{self.order_id}/cancel", {"reason": "Customer changed her mind"}),
            200,
            code="cancel_requested",
        )
        self.tell.say(asked["message"])

        self.tell.step("Acme captures the cancellation, and refuses: the tray is packed already")
        self._captured(self.acme, {"fulfillment_state": "cancelling"})
        refusal = {
            "supplier_id": self.acme["id"],
            "fulfillment_id": tray,
            "status": "cancelation not allowed",
        }
        answer = self._caller("suppliers", self.acme).put(f"fulfillments/{tray}/setStatus", refusal)
        self.tell.say(self._expect(answer, 200, code="cancelation_not_allowed")["message"])

        self.tell.step("The fulfillment is back in the capturing process: captured again, and shipped")
        self._captured(self.acme, {"retailer_state": "ordered", "fulfillment_state": "new"})
        self._set_status(self.acme, tray, "shipped", {"tracking_number": f"2Z{self.name}", "carrier": "UPS"})

    def poll_until_completed(self) -> None:
        self.tell.step("Shop polls: everything updated since it last asked, oldest first")
        shop = self._caller("retailers", self.shop)
        seen = None
        while True:
            wanted = quote(json.dumps({"updated_at": {"gt": self.last_seen}}))
            orders = self._expect(shop.get(f"orders?filter={wanted}&sort=updated_at"), 200)["results"]
            if not orders:
                break
            self.last_seen = orders[-1]["updated_at"]
            seen = next((order for order in orders if order["id"] == self.order_id), seen)
        self._require(seen is not None, f"the poll never showed order {self.order_id}")
        assert seen is not None
        self._require(
            seen["processing_state"] == "completed",
            f"order {self.order_id} is {seen['processing_state']}, it should be completed",
        )
        parcels = [number for each in seen["fulfillments"] for number in each["tracking_numbers"]]
        self.tell.say(f"order {self.order_id} is completed, in parcels {', '.join(parcels)}")
        counts = self._expect(shop.get("order-filters"), 200)
        self.tell.say(", ".join(f"{count} {state}" for state, count in counts.items()))

    # --- What the scenes have in common ----------------------------------------------------------

    def _caller(self, role: str, party: PartyEntry) -> Caller:
        path = f"/v3/{role}/{party['id']}"
        return Caller(party["name"], self.demo["base_url"], path, party["api_key"], self.tell.answer)

    def _area(self, supplier: SupplierEntry) -> sftp.Area:
        return sftp.Area(
            **self.demo["sftp"], username=supplier["sftp_username"], password=supplier["sftp_password"]
        )

    def _await_import(self, caller: Caller, job_id: int) -> None:
        """Wait until a job has ended, and tell how."""
        quiet = Caller(caller.name, caller.base_url, caller.path, caller.key)
        deadline = time.monotonic() + PATIENCE
        while True:
            job = self._expect(quiet.get(f"imports/{job_id}"), 200)
            if job["finished_at"] or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        self._require(
            job["status"] in ("succeeded", "succeeded_with_errors"),
            f"import {job_id} is {job['status']} after {PATIENCE:.0f} s at most: {job.get('error')}",
        )
        counts = ("rows_total", "created", "updated", "unchanged", "rejected")
        self.tell.say(f"{job['status']}: " + ", ".join(f"{job[each]} {each}" for each in counts))
        for error in job["errors"]:
            self.tell.say(f"line {error['line']}, {error['field']}: {error['message']}")

    def _push_stock(self, supplier: SupplierEntry, amounts: dict[str, int]) -> None:
        body = {
            "warehouse_id": str(supplier["warehouses"][0]["id"]),
            "id_type": "sku",
            "inventories": [{"id": sku, "amount": amount} for sku, amount in amounts.items()],
        }
        answer = self._expect(self._caller("suppliers", supplier).post("inventory", body), 200)
        self._require(not answer["rejected"], f"stock was rejected: {answer.get('errors')}")
        self.tell.say(f"{answer['updated']} updated, {answer['unchanged']} unchanged")

    def _captured(self, supplier: SupplierEntry, wanted: dict[str, str]) -> dict[str, Any]:
        """Capture page by page until this order's work shows up."""
        caller = self._caller("suppliers", supplier)
        page: str | None = f"fulfillments?filter={quote(json.dumps(wanted))}"
        while page:
            answer = caller.get(page)
            for item in self._expect(answer, 200):
                if item["order_id"] == self.order_id:
                    wares = ", ".join(f"{line['quantity']} × {line['sku']}" for line in item["lines"])
                    self.tell.say(f"fulfillment {item['id']} is {item['fulfillment_state']}: {wares}")
                    return dict(item)
            page = answer.next_page
        raise StoryError(f"{supplier['name']}'s capture does not show anything of order {self.order_id}")

    def _set_status(self, supplier: SupplierEntry, fulfillment: int, status: str, body: Any = None) -> None:
        caller = self._caller("suppliers", supplier)
        answer = caller.put(f"fulfillments/{fulfillment}/setStatus/{status}", body)
        self.tell.say(self._expect(answer, 200, code=status)["message"])

    def _expect(self, answer: Answer, status: int, code: str = "") -> Any:
        """The answer's body, when it is what the story needs."""
        body = answer.json
        got = body.get("code", "") if isinstance(body, dict) else ""
        if answer.status == status and code in ("", got):
            return body
        wanted = f"{status} {code}".strip()
        raise StoryError(f"{answer.request}: expected {wanted}, got {answer.status}: {answer.text[:500]}")

    @staticmethod
    def _require(condition: bool, otherwise: str) -> None:
        if not condition:
            raise StoryError(otherwise)


def play(demo: Demo, out: Callable[[str], object], *, colour: bool) -> None:
    """Play the whole story. Raises StoryError, which names the step."""
    teller = Teller(out, colour=colour)
    try:
        Story(demo, teller).play()
    except StoryError as error:
        raise StoryError(f"Step {teller.step_number} ({teller.title}) failed.\n{error}") from error
    except (KeyError, TypeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise StoryError(
            f"Step {teller.step_number} ({teller.title}) failed: an answer lacks what comes next ({what})."
        ) from error
