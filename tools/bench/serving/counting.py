"""The queries of one request, each with its reason."""

from __future__ import annotations

import logging
import re
from itertools import count

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tools.bench.serving.asking import BenchRequest
from tools.bench.serving.load import MARK

# Patterns of the start of a statement; the first pattern that matches gives the reason.
REASONS = {
    r"SELECT .*FROM \"accounts_apikey\"": "the key, its party and scopes",
    r"UPDATE \"accounts_apikey\"": "once a minute: the time of the key's last use",
    r"SELECT .*FROM \"accounts_partnership\"": "the retailer's active partners and their warehouses",
    r"SELECT .*FROM \"catalog_variant\"": "the variants of the lines",
    r"SELECT .*FROM \"inventory_stocklevel\"": "the stock to choose from",
    r"WITH wanted AS ": "locks the chosen stock rows in order and reserves their units, with a movement each",
    r"INSERT INTO \"orders_order\"": "the order; its unique number refuses a duplicate",
    r"INSERT INTO \"orders_orderline\"": "its lines",
    r"INSERT INTO \"fulfillments_fulfillment\"": "one fulfillment for each supplier and warehouse",
    r"INSERT INTO \"fulfillments_fulfillmentline\"": "their lines",
    r"INSERT INTO \"fulfillments_routingdecision\"": "the routing decision",
    r"INSERT INTO \"events_event\"": "the history",
    r"WITH clock AS \( INSERT": "the retailer's clock and counters, and the order's timestamp",
    r"SELECT .*FROM \"orders_order\" .*\"orders_order\".\"id\" = ": "the order, if it is this retailer's",
    r"SELECT .*FROM \"orders_order\"": "the page of orders",
    r"SELECT .*FROM \"orders_orderline\"": "the lines of all orders of the page",
    r"SELECT .*FROM \"fulfillments_fulfillment\"": "the page of fulfillments",
    r"SELECT .*FROM fulfillments_fulfillmentline": "the backorders that wait for the taken stock",
    r"SELECT .*FROM \"fulfillments_fulfillmentline\"": "the lines of all fulfillments of the page",
    r"INSERT INTO fulfillments_capture": "the time of each fulfillment's first capture",
    r"SELECT .*FROM \"fulfillments_(shipment|rejection|return)\"": "shipments, rejections and returns",
    r"SELECT .*FROM \"orders_retailerclock\"": "the counters",
    r"BEGIN|COMMIT|SAVEPOINT|RELEASE SAVEPOINT": "the transaction",
}
_numbers = count(900_000_000)


def queries_of(request: BenchRequest) -> list[str]:
    """Return the statements of one request, shortened, with their reasons."""
    headers = {"Authorization": f"Bearer {request.secret}", "Host": "127.0.0.1"}
    logging.disable(logging.INFO)  # one log line per request would hide the results
    for _ in range(2):  # the first request also fills the caches of the process
        body = request.body.replace(MARK, b"%012d" % next(_numbers))
        with CaptureQueriesContext(connection) as captured:
            response = Client().generic(
                request.method, request.path, body, "application/json", headers=headers
            )
        assert response.status_code < 300, response.content
    return [_described(query["sql"]) for query in captured.captured_queries]


def _described(statement: str) -> str:
    text = " ".join(statement.split())
    reason = next((reason for pattern, reason in REASONS.items() if re.match(pattern, text)), "")
    verb = text.split()[0]
    table = re.search(r"(?:FROM|INTO|UPDATE) \"?(\w+)", re.sub(r"\(SELECT .*? LIMIT 1\)", "", text))
    return f"{verb} {table[1] if table else ''}".strip().ljust(44) + reason
