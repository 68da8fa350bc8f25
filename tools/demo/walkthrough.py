"""One order from upload to completion, through the public interface only (`make demo`).

Every run creates its own order and counts the stock again, so the demo can be repeated at any time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from config.ports import in_url
from tools.demo import sftp
from tools.demo.actions import PartnerActions
from tools.demo.client import DemoError
from tools.demo.console import Console
from tools.demo.credentials import Demo, SupplierEntry

SAMPLES = Path(__file__).with_name("samples")
TRAY = "810020000023"  # the UPC under which both suppliers sell the tray

WOOCOMMERCE = {
    "mapping": "woocommerce",
    "math_transformer": "wholesale_price = round(retail_price * 0.55, 2)",
}
SHOPIFY = {
    "mapping": "shopify",
    "math_transformer": "wholesale_price = round(retail_price * 0.6, 2)",
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


class Walkthrough(PartnerActions):
    """The scenes of the demo. A scene raises DemoError if a result is unexpected."""

    def play(self) -> None:
        """Play all scenes in order."""
        self.load_products(self.acme, "acme-woocommerce.csv", WOOCOMMERCE, "a shop's export from WooCommerce")
        self.load_products(self.rival, "rival-shopify.csv", SHOPIFY, "an export from Shopify")
        self.count_stock()
        self.pull_and_push()
        mug, tray = self.capture_new()
        self.accept_and_ship(self.acme, mug)
        self.restock_and_reject(tray)
        self.cancel_and_refuse()
        self.poll_until_completed()
        self.console.end(
            f"Order {self.order_id} ({self.name}) is completed: {self.console.step_number} steps"
            f" in {self.console.seconds:.1f} s."
        )

    # --- Scenes ----------------------------------------------------------------------------------

    def load_products(self, supplier: SupplierEntry, file: str, mapping: dict[str, Any], kind: str) -> None:
        self.console.step(f"{supplier['name']} uploads its products by SFTP: {kind}")
        area = self.area(supplier)
        started = time.perf_counter()
        program = sftp.put(area, SAMPLES / file, f"products/{file}")
        shown = f"{program} -P {area.port} {area.username}@{in_url(area.host)}  put {file} products/{file}"
        self.console.action(shown, time.perf_counter() - started)

        self.console.step(f"{supplier['name']} starts the import, with a mapping that the service has")
        client = self.client("suppliers", supplier)
        file_url = f"sftp://{in_url(area.host)}:{area.port}/products/{file}"
        job = self.expect(client.post("importProducts", {"file_url": file_url, **mapping}), 201)
        self.console.say(f"import {job['id']} is {job['status']}")
        self.await_import(client, job["id"])

    def count_stock(self) -> None:
        self.console.step("Both suppliers push their stock; only Rival has the tray")
        self.push_stock(self.acme, {"ACME-MUG": 100, "ACME-TEE-M": 40, "ACME-TEE-L": 40, "ACME-TRAY": 0})
        self.push_stock(self.rival, {"RIV-TRAY": 50, "RIV-CANDLE": 50})

    def pull_and_push(self) -> None:
        self.console.step("Shop pulls the variants that it may sell")
        shop = self.client("retailers", self.shop)
        groups = self.expect(shop.get("variants?service_type=ecommerce"), 200)
        mug = next((group for group in groups if group["model"] == "ACME-MUG"), None)
        if mug is None:
            raise DemoError("the pull does not show the mug that Acme has just imported")
        self.console.say(
            f"{len(groups)} groups; one is {mug['title']!r}: {mug['available_inventory']} in stock,"
            f" wholesale {mug['wholesale_price_min']}, retail {mug['retail_price_min']}"
        )

        self.console.step("Shop pushes an order: two mugs of Acme's, and one tray of any supplier")
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
        pushed = self.expect(answer, 201, code="order_created")
        self.order_id = pushed["order_id"]
        self.console.say(f"{pushed['code']}: order {self.order_id}, at {answer.headers['Location']}")

    def capture_new(self) -> tuple[int, int]:
        self.console.step("Both suppliers capture their new work")
        wanted = {"retailer_state": "ordered", "fulfillment_state": "new"}
        mug = self.captured(self.acme, wanted)
        tray = self.captured(self.rival, wanted)
        return mug["id"], tray["id"]

    def accept_and_ship(self, supplier: SupplierEntry, fulfillment: int) -> None:
        self.console.step(f"{supplier['name']} accepts, and ships with a tracking number")
        self.set_status(supplier, fulfillment, "accepted")
        self.set_status(supplier, fulfillment, "shipped", {"tracking_number": f"1Z{self.name}"})

    def restock_and_reject(self, tray: int) -> None:
        self.console.step("Acme gets trays; Rival's last tray is broken: out of stock")
        self.push_stock(self.acme, {"ACME-TRAY": 12})
        self.set_status(self.rival, tray, "out_of_stock")

    def cancel_and_refuse(self) -> None:
        self.console.step("The tray was routed again, to Acme, who captures it")
        again = self.captured(self.acme, {"retailer_state": "ordered", "fulfillment_state": "new"})
        tray = again["id"]

        self.console.step("Shop requests the cancellation of the order")
        shop = self.client("retailers", self.shop)
        asked = self.expect(
            shop.post(f"orders/{self.order_id}/cancel", {"reason": "The customer changed their mind"}),
            200,
            code="cancel_requested",
        )
        self.console.say(asked["message"])

        self.console.step("Acme captures the cancellation, and refuses: the tray is packed already")
        self.captured(self.acme, {"fulfillment_state": "canceling"})
        refusal = {
            "supplier_id": self.acme["id"],
            "fulfillment_id": tray,
            "status": "cancelation not allowed",
        }
        answer = self.client("suppliers", self.acme).put(f"fulfillments/{tray}/setStatus", refusal)
        self.console.say(self.expect(answer, 200, code="cancelation_not_allowed")["message"])

        self.console.step("The fulfillment is back in the capturing process: captured again, and shipped")
        self.captured(self.acme, {"retailer_state": "ordered", "fulfillment_state": "new"})
        self.set_status(self.acme, tray, "shipped", {"tracking_number": f"2Z{self.name}", "carrier": "UPS"})

    def poll_until_completed(self) -> None:
        self.console.step("Shop polls: everything updated since it last asked, oldest first")
        shop = self.client("retailers", self.shop)
        seen = None
        while True:
            wanted = quote(json.dumps({"updated_at": {"gt": self.last_seen}}))
            orders = self.expect(shop.get(f"orders?filter={wanted}&sort=updated_at"), 200)["results"]
            if not orders:
                break
            self.last_seen = orders[-1]["updated_at"]
            seen = next((order for order in orders if order["id"] == self.order_id), seen)
        if seen is None:
            raise DemoError(f"the poll never showed order {self.order_id}")
        self.require(
            seen["processing_state"] == "completed",
            f"order {self.order_id} is {seen['processing_state']}, it should be completed",
        )
        parcels = [number for each in seen["fulfillments"] for number in each["tracking_numbers"]]
        self.console.say(f"order {self.order_id} is completed, in parcels {', '.join(parcels)}")
        counts = self.expect(shop.get("order-filters"), 200)
        self.console.say(", ".join(f"{count} {state}" for state, count in counts.items()))


def play(demo: Demo, out: Callable[[str], object], *, colour: bool) -> None:
    """Play the whole demo. Raises DemoError that names the failed step."""
    console = Console(out, colour=colour)
    try:
        Walkthrough(demo, console).play()
    except DemoError as error:
        raise DemoError(f"Step {console.step_number} ({console.title}) failed.\n{error}") from error
    except (KeyError, TypeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise DemoError(
            f"Step {console.step_number} ({console.title}) failed: a field is missing in an answer ({what})."
        ) from error
