"""The parties' clients, and the actions that several scenes of the demo use."""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tools.demo import sftp
from tools.demo.client import DemoAnswer, DemoError, PartnerClient
from tools.demo.console import Console
from tools.demo.credentials import Demo, PartyEntry, SupplierEntry

IMPORT_TIMEOUT = 90.0  # seconds


class PartnerActions:
    """The parties of the demo with their keys. An unexpected answer raises DemoError."""

    def __init__(self, demo: Demo, console: Console) -> None:
        self.demo, self.console = demo, console
        self.acme, self.rival = demo["suppliers"][:2]
        self.shop = demo["retailers"][0]
        self.name = f"DEMO-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        self.last_seen = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        self.order_id = 0

    def client(self, role: str, party: PartyEntry) -> PartnerClient:
        path = f"/v3/{role}/{party['id']}"
        return PartnerClient(
            party["name"], self.demo["base_url"], path, party["api_key"], self.console.answer
        )

    def area(self, supplier: SupplierEntry) -> sftp.UploadAreaLogin:
        return sftp.UploadAreaLogin(
            **self.demo["sftp"], username=supplier["sftp_username"], password=supplier["sftp_password"]
        )

    def await_import(self, client: PartnerClient, job_id: int) -> None:
        """Poll a job until it has ended, and show its result."""
        quiet = PartnerClient(client.name, client.base_url, client.path, client.key)
        deadline = time.monotonic() + IMPORT_TIMEOUT
        while True:
            job = self.expect(quiet.get(f"imports/{job_id}"), 200)
            if job["finished_at"] or time.monotonic() > deadline:
                break
            time.sleep(0.1)  # real partners also poll jobs
        self.require(
            job["status"] in ("succeeded", "succeeded_with_errors"),
            f"import {job_id} is {job['status']} after {IMPORT_TIMEOUT:.0f} s at most: {job.get('error')}",
        )
        counts = ("created", "updated", "unchanged", "rejected")
        counted = ", ".join(f"{job[each]} {each}" for each in counts if job[each])
        self.console.say(f"{job['status']}: {job['rows_total']} rows, {counted}")
        for error in job["errors"]:
            self.console.say(f"rejected line {error['line']}: {error['message']}")

    def push_stock(self, supplier: SupplierEntry, amounts: dict[str, int]) -> None:
        body = {
            "warehouse_id": str(supplier["warehouses"][0]["id"]),
            "id_type": "sku",
            "inventories": [{"id": sku, "amount": amount} for sku, amount in amounts.items()],
        }
        answer = self.expect(self.client("suppliers", supplier).post("inventory", body), 200)
        self.require(not answer["rejected"], f"stock was rejected: {answer.get('errors')}")
        self.console.say(f"{answer['updated']} updated, {answer['unchanged']} unchanged")

    def captured(self, supplier: SupplierEntry, wanted: dict[str, str]) -> dict[str, Any]:
        """Capture page by page until this order's fulfillment appears, and return the fulfillment."""
        client = self.client("suppliers", supplier)
        page: str | None = f"fulfillments?filter={quote(json.dumps(wanted))}"
        while page:
            answer = client.get(page)
            for fulfillment in self.expect(answer, 200):
                if fulfillment["order_id"] == self.order_id:
                    items = ", ".join(f"{line['quantity']} × {line['sku']}" for line in fulfillment["lines"])
                    self.console.say(
                        f"fulfillment {fulfillment['id']} is {fulfillment['fulfillment_state']}: {items}"
                    )
                    return dict(fulfillment)
            page = answer.next_page
        raise DemoError(f"{supplier['name']}'s capture does not show anything of order {self.order_id}")

    def set_status(self, supplier: SupplierEntry, fulfillment: int, status: str, body: Any = None) -> None:
        client = self.client("suppliers", supplier)
        answer = client.put(f"fulfillments/{fulfillment}/setStatus/{status}", body)
        self.console.say(self.expect(answer, 200, code=status)["message"])

    def expect(self, answer: DemoAnswer, status: int, code: str = "") -> Any:
        """Return the answer's body. Raises DemoError for another status or code."""
        body = answer.json
        got = body.get("code", "") if isinstance(body, dict) else ""
        if answer.status == status and code in ("", got):
            return body
        wanted = f"{status} {code}".strip()
        raise DemoError(f"{answer.request}: expected {wanted}, got {answer.status}: {answer.text[:500]}")

    @staticmethod
    def require(condition: bool, otherwise: str) -> None:
        if not condition:
            raise DemoError(otherwise)
