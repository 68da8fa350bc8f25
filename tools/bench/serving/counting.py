"""The queries of one request, each with the reason for it."""

from __future__ import annotations

import logging
import re
from itertools import count

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tools.bench.serving.asking import Asked
from tools.bench.serving.load import MARK

# By what a statement begins with and names first; the first that fits counts.
REASONS = {
    r"SELECT .*FROM \"accounts_apikey\"": "the key, its party and scopes",
    r"UPDATE \"accounts_apikey\"": "once a minute: when the key was last used",
    r"SELECT .*FROM \"accounts_partnership\"": "the retailer's active partners, and where they ship from",
    r"SELECT .*FROM \"catalog_variant\"": "the variants that the lines name",
    r"SELECT .*FROM \"inventory_stocklevel\"": "the stock to choose from",
    r"WITH wanted AS ": "locks what was chosen, in order, and sets it aside, each piece with its movement",
    r"INSERT INTO \"orders_order\"": "the order; its unique number stops a twin",
    r"INSERT INTO \"orders_orderline\"": "its lines",
    r"INSERT INTO \"fulfillments_fulfillment\"": "one fulfillment for each supplier and warehouse",
    r"INSERT INTO \"fulfillments_fulfillmentline\"": "their lines",
    r"INSERT INTO \"fulfillments_routingdecision\"": "why it was routed so",
    r"INSERT INTO \"events_event\"": "the history",
    r"WITH clock AS \( INSERT": "the retailer's clock and counters, and the order's stamp",
    r"SELECT .*FROM \"orders_order\" .*\"orders_order\".\"id\" = ": "the order, when it is this retailer's",
    r"SELECT .*FROM \"orders_order\"": "the page of orders",
    r"SELECT .*FROM \"orders_orderline\"": "the lines of all orders of the page",
    r"SELECT .*FROM \"fulfillments_fulfillment\"": "the page of fulfillments",
    r"SELECT .*FROM fulfillments_fulfillmentline": "whether somebody waits for what was taken",
    r"SELECT .*FROM \"fulfillments_fulfillmentline\"": "the lines of all its fulfillments",
    r"INSERT INTO fulfillments_capture": "when each was first handed out",
    r"SELECT .*FROM \"fulfillments_(shipment|rejection|return)\"": "what was shipped, refused or came back",
    r"SELECT .*FROM \"orders_retailerclock\"": "the counters",
    r"BEGIN|COMMIT|SAVEPOINT|RELEASE SAVEPOINT": "all of it, or nothing",
}
_numbers = count(900_000_000)


def queries_of(asked: Asked) -> list[str]:
    """Each statement that answering takes, shortened, with its reason."""
    headers = {"Authorization": f"Bearer {asked.secret}", "Host": "127.0.0.1"}
    logging.disable(logging.INFO)  # a line for each request would stand between our own
    for _ in range(2):  # what is found out once for each process does not count
        body = asked.body.replace(MARK, b"%012d" % next(_numbers))
        with CaptureQueriesContext(connection) as captured:
            response = Client().generic(asked.method, asked.path, body, "application/json", headers=headers)
        assert response.status_code < 300, response.content
    return [_described(query["sql"]) for query in captured.captured_queries]


def _described(statement: str) -> str:
    text = " ".join(statement.split())
    why = next((why for beginning, why in REASONS.items() if re.match(beginning, text)), "")
    verb = text.split()[0]
    table = re.search(r"(?:FROM|INTO|UPDATE) \"?(\w+)", re.sub(r"\(SELECT .*? LIMIT 1\)", "", text))
    return f"{verb} {table[1] if table else ''}".strip().ljust(44) + why
