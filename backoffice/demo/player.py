"""What the scenes of the demo have in common: the cast's clients, and what they do again and again."""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from backoffice.demo import sftp
from backoffice.demo.client import Answer, Caller, StoryError
from backoffice.demo.credentials import Demo, PartyEntry, SupplierEntry
from backoffice.demo.telling import Teller

PATIENCE = 90.0  # seconds that an import may take before the story gives up


class Player:
    """The cast with their keys. What goes otherwise than it should raises StoryError."""

    def __init__(self, demo: Demo, teller: Teller) -> None:
        self.demo, self.tell = demo, teller
        self.acme, self.rival = demo["suppliers"][:2]
        self.shop = demo["retailers"][0]
        self.name = f"DEMO-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        self.last_seen = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        self.order_id = 0

    def caller(self, role: str, party: PartyEntry) -> Caller:
        path = f"/v3/{role}/{party['id']}"
        return Caller(party["name"], self.demo["base_url"], path, party["api_key"], self.tell.answer)

    def area(self, supplier: SupplierEntry) -> sftp.Area:
        return sftp.Area(
            **self.demo["sftp"], username=supplier["sftp_username"], password=supplier["sftp_password"]
        )

    def await_import(self, caller: Caller, job_id: int) -> None:
        """Wait until a job has ended, and tell how."""
        quiet = Caller(caller.name, caller.base_url, caller.path, caller.key)
        deadline = time.monotonic() + PATIENCE
        while True:
            job = self.expect(quiet.get(f"imports/{job_id}"), 200)
            if job["finished_at"] or time.monotonic() > deadline:
                break
            time.sleep(0.1)  # as a partner would: jobs are followed by asking
        self.require(
            job["status"] in ("succeeded", "succeeded_with_errors"),
            f"import {job_id} is {job['status']} after {PATIENCE:.0f} s at most: {job.get('error')}",
        )
        counts = ("created", "updated", "unchanged", "rejected")
        counted = ", ".join(f"{job[each]} {each}" for each in counts if job[each])
        self.tell.say(f"{job['status']}: {job['rows_total']} rows, {counted}")
        for error in job["errors"]:
            self.tell.say(f"rejected line {error['line']}: {error['message']}")

    def push_stock(self, supplier: SupplierEntry, amounts: dict[str, int]) -> None:
        body = {
            "warehouse_id": str(supplier["warehouses"][0]["id"]),
            "id_type": "sku",
            "inventories": [{"id": sku, "amount": amount} for sku, amount in amounts.items()],
        }
        answer = self.expect(self.caller("suppliers", supplier).post("inventory", body), 200)
        self.require(not answer["rejected"], f"stock was rejected: {answer.get('errors')}")
        self.tell.say(f"{answer['updated']} updated, {answer['unchanged']} unchanged")

    def captured(self, supplier: SupplierEntry, wanted: dict[str, str]) -> dict[str, Any]:
        """Capture page by page until this order's work shows up."""
        caller = self.caller("suppliers", supplier)
        page: str | None = f"fulfillments?filter={quote(json.dumps(wanted))}"
        while page:
            answer = caller.get(page)
            for item in self.expect(answer, 200):
                if item["order_id"] == self.order_id:
                    wares = ", ".join(f"{line['quantity']} × {line['sku']}" for line in item["lines"])
                    self.tell.say(f"fulfillment {item['id']} is {item['fulfillment_state']}: {wares}")
                    return dict(item)
            page = answer.next_page
        raise StoryError(f"{supplier['name']}'s capture does not show anything of order {self.order_id}")

    def set_status(self, supplier: SupplierEntry, fulfillment: int, status: str, body: Any = None) -> None:
        caller = self.caller("suppliers", supplier)
        answer = caller.put(f"fulfillments/{fulfillment}/setStatus/{status}", body)
        self.tell.say(self.expect(answer, 200, code=status)["message"])

    def expect(self, answer: Answer, status: int, code: str = "") -> Any:
        """The answer's body, when it is what the story needs."""
        body = answer.json
        got = body.get("code", "") if isinstance(body, dict) else ""
        if answer.status == status and code in ("", got):
            return body
        wanted = f"{status} {code}".strip()
        raise StoryError(f"{answer.request}: expected {wanted}, got {answer.status}: {answer.text[:500]}")

    @staticmethod
    def require(condition: bool, otherwise: str) -> None:
        if not condition:
            raise StoryError(otherwise)
