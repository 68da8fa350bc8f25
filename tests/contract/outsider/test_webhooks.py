"""Webhooks with a receiver in this process (contract 13).

The service must be allowed to call the receiver.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from .http_client import well
from .steps import bring_to, one_fulfillment

pytestmark = pytest.mark.skipif(
    "127.0.0.0/8" not in os.environ.get("WEBHOOK_NETWORKS", ""),
    reason="needs a service with WEBHOOK_NETWORKS=127.0.0.0/8, and the same here",
)


class Inbox:
    """A receiver that stores the headers and the body of each request."""

    def __init__(self) -> None:
        self.url, self.came, self.down = "", list[tuple[dict[str, str], bytes]](), False

    def of(self, order: int, enough: int, seconds: float = 20.0) -> list[Any]:
        """Wait until this number of events of an order has arrived, and return them.

        After `seconds`, return the events that have arrived.
        """
        until = time.monotonic() + seconds
        while True:
            found = [json.loads(body) for _, body in list(self.came)]
            events = [each for each in found if each.get("order_id") == order]
            if len(events) >= enough or time.monotonic() > until:
                return events
            time.sleep(0.05)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    inbox = Inbox()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not inbox.down:
                inbox.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(503 if inbox.down else 204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    inbox.url = f"http://127.0.0.1:{server.server_address[1]}/hooks"
    yield inbox
    server.shutdown()
    server.server_close()


def signed_with(secret: str, headers: dict[str, str], body: bytes) -> bool:
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
    return expected in headers["webhook-signature"].split()


def test_both_sides_get_signed_events_of_an_order_as_in_the_feed(acme, shop, inbox):
    made = [well(party.post("webhooks", {"url": inbox.url}), 201) for party in (acme, shop)]
    order, held = one_fulfillment(acme, shop)
    bring_to("shipped", acme, shop, order, held["id"])
    came = inbox.of(order["id"], 7)

    for party, webhook in zip((acme, shop), made, strict=True):
        own = [
            json.loads(body) for headers, body in inbox.came if signed_with(webhook["secret"], headers, body)
        ]
        of_order = [each for each in own if each.get("order_id") == order["id"]]
        feed = well(party.get("events", {"after": of_order[0]["id"] - 1, "limit": 500}))["results"]
        assert of_order == [each for each in feed if each.get("order_id") == order["id"]]
        assert well(party.request("DELETE", f"webhooks/{webhook['id']}"))["success"]
    assert {"order.created", "fulfillment.created", "fulfillment.shipped"} <= {each["type"] for each in came}


def test_both_sides_get_the_correction_of_a_mistyped_tracking_number(acme, shop, inbox):
    """Contract 21: a wrong tracking number gets a warning, and the supplier can correct it."""
    made = [well(party.post("webhooks", {"url": inbox.url}), 201) for party in (acme, shop)]
    order, held = one_fulfillment(acme, shop)
    bring_to("accepted", acme, shop, order, held["id"])
    typo, right = "1Z5R89390357567128", "1Z5R89390357567127"
    one = f"fulfillments/{held['id']}"

    [warning] = well(acme.put(f"{one}/setStatus/shipped", {"tracking_number": typo}))["warnings"]
    [parcel] = well(acme.get(one))["shipments"]
    path = f"{one}/shipments/{parcel['id']}"
    corrected = well(acme.request("PATCH", path, {"tracking_number": right}))
    again = well(acme.request("PATCH", path, {"tracking_number": right}))
    shipped_again = well(acme.put(f"{one}/setStatus/shipped", {"tracking_number": typo}))

    assert typo in warning
    assert "UPS" in warning
    assert (corrected["code"], corrected["warnings"]) == ("shipment_corrected", [])
    assert again["code"] == shipped_again["code"] == "unchanged"
    [sold] = well(shop.get(f"orders/{order['id']}"))["fulfillments"][0]["shipments"]
    for shown in (sold, well(acme.get(one))["shipments"][0]):
        assert (shown["tracking_number"], shown["carrier"]) == (right, "UPS")
        assert right in shown["tracking_url"]
    heard = [each for each in inbox.of(order["id"], 11) if each["type"] == "fulfillment.shipment_corrected"]
    assert len(heard) == 2
    assert {(each["data"]["old_tracking_number"], each["data"]["tracking_number"]) for each in heard} == {
        (typo, right)
    }
    for party, webhook in zip((acme, shop), made, strict=True):
        party.request("DELETE", f"webhooks/{webhook['id']}")


def test_a_refused_event_is_retried_and_a_replay_sends_it_again(acme, shop, inbox):
    webhook = well(shop.post("webhooks", {"url": inbox.url, "types": ["order.created"]}), 201)
    inbox.down = True
    order, _ = one_fulfillment(acme, shop)
    until = time.monotonic() + 20
    while not (seen := well(shop.get(f"webhooks/{webhook['id']}")))["failing_since"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert seen["active"]
    assert seen["waiting"] >= 1  # events of other tests' orders wait too
    inbox.down = False
    [event] = inbox.of(order["id"], 1)

    path = f"webhooks/{webhook['id']}"
    stretch = {"after": event["id"] - 1, "until": event["id"]}
    assert well(shop.post(f"{path}/replay", stretch), 202)["deliveries"] == 1
    assert inbox.of(order["id"], 2) == [event, event]
    of_event = [
        headers["webhook-id"] for headers, body in inbox.came if json.loads(body)["id"] == event["id"]
    ]
    assert len(of_event) == 2
    assert len({*of_event}) == 1
    deliveries = well(shop.get(f"{path}/deliveries"))["results"]
    assert len([each for each in deliveries if each["event_id"] == event["id"]]) == 1
    shop.request("DELETE", path)
