"""Compares the portal's pages of one supplier and one retailer with many and with few fulfillments.

One supplier has nearly all fulfillments of a market; the large market has `--orders` of them. Another
supplier and another retailer have only a few old rows, and their lists must be as fast in both markets.
Also compares *Quick ship* with 50 rows and with one row.
"""

from __future__ import annotations

import logging
from statistics import median
from time import perf_counter
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from accounts.member_roles import MemberRole
from accounts.models import Member, Retailer, Supplier
from fulfillments.models import Fulfillment
from fulfillments.states import State, sql
from tools.bench.database import own_database
from tools.bench.operating.pages import on, over
from tools.bench.operating.two_markets import WAITING, measure, two_markets
from tools.bench.options import read_options
from tools.bench.serving.market import execute
from tools.bench.sizes import SMOKE, size

OF_SUPPLIER = {
    "today": "/portal/",
    "orders": "/portal/orders/",
    "orders, late": "/portal/orders/?tab=late",
    "orders, shipped": "/portal/orders/?tab=shipped",
    "orders, a later page": "/portal/orders/?tab=all&before=4000",
    "orders by number": "/portal/orders/?q=PO-000000077",
    "quick ship": "/portal/quick-ship/",
    "returns": "/portal/returns/",
    "returns by number": "/portal/returns/?q=R-2000",
    "files": "/portal/files/",
}
OF_RETAILER = {
    "retailer: today": "/portal/",
    "retailer: orders": "/portal/purchases/",
    "retailer: orders, late": "/portal/purchases/?tab=late",
    "retailer: orders completed": "/portal/purchases/?tab=completed",
    "retailer: orders canceled": "/portal/purchases/?tab=canceled",
    "retailer: all orders": "/portal/purchases/?tab=all",
    "retailer: orders by number": "/portal/purchases/?q=PO-000000077",
    "retailer: an order": "/portal/purchases/3/",
    "retailer: catalog": "/portal/catalog/",
    "retailer: catalog by title": "/portal/catalog/?q=shirt no. 77",
    "retailer: suppliers": "/portal/suppliers/",
    "retailer: returns": "/portal/returned/",
}
OF_FEW = {
    f"few rows, {title}": path
    for title, path in OF_SUPPLIER.items()
    if title not in ("orders, a later page",)
} | {"few rows, team": "/portal/team/", "few rows, products": "/portal/products/"}
OF_FEW_RETAILER = {
    "few rows, retailer: today": "/portal/",
    "few rows, retailer: all orders": "/portal/purchases/?tab=all",
    "few rows, retailer: late": "/portal/purchases/?tab=late",
    "few rows, retailer: returns": "/portal/returned/",
    "few rows, retailer: catalog": "/portal/catalog/",
}
FEW_ROWS = """
    INSERT INTO accounts_supplier (name, priority, safety_stock) VALUES ('Few', 100, 0);
    INSERT INTO accounts_retailer (name) VALUES ('Few');
    INSERT INTO accounts_partnership (retailer_id, supplier_id, retailer_erp_id, retailer_shipper_account,
            service_types, is_active, refuse_short_orders, cancelation_default)
        SELECT max(r.id), max(s.id), 'ERP-F', 'UPS-F', '{ecommerce}', true, false, 'wait'
        FROM accounts_retailer r, accounts_supplier s;
    INSERT INTO inventory_warehouse (supplier_id, name, is_default)
        SELECT max(id), 'Few', true FROM accounts_supplier;
    UPDATE orders_order SET retailer_id = (SELECT max(id) FROM accounts_retailer)
        WHERE id BETWEEN 4001 AND 4060;
    UPDATE fulfillments_fulfillment SET supplier_id = (SELECT max(id) FROM accounts_supplier),
        partnership_id = (SELECT max(id) FROM accounts_partnership),
        warehouse_id = (SELECT max(id) FROM inventory_warehouse) WHERE id BETWEEN 4001 AND 4060;
    UPDATE imports_importjob SET supplier_id = (SELECT max(id) FROM accounts_supplier)
        WHERE id IN (SELECT id FROM imports_importjob ORDER BY id LIMIT 20);
"""
RETURNS = f"""
    INSERT INTO fulfillments_return (fulfillment_id, return_id, reason, items)
    SELECT id, 'R-' || id, 'Too large', '[]' FROM fulfillments_fulfillment
    WHERE state = {sql(State.SHIPPED)} AND (mod(id, 20) = 0 OR id BETWEEN 4001 AND 4060) ORDER BY id
"""
ROWS = 50
MOST_TIMES = 25
"""The most time of 50 shipped rows, as a multiple of the time of one row."""


def main(arguments: list[str]) -> None:
    orders, rounds = size(1_000_000, smoke=5_500), size(20, smoke=1)
    options = read_options("portal", arguments, only=True, orders=orders, waiting=WAITING, rounds=rounds)
    with own_database(), two_markets(options.orders, options.waiting) as small:
        for name in (small, str(connection.settings_dict["NAME"])):
            database = over(name)
            with on(database):
                for statement in (FEW_ROWS, RETURNS, "VACUUM ANALYZE"):
                    execute(statement)
            database.close()
        for pages, sign_in in (
            (OF_SUPPLIER, supplier_owner),
            (OF_RETAILER, retailer_owner),
            (OF_FEW, few_supplier_owner),
            (OF_FEW_RETAILER, few_retailer_owner),
        ):
            chosen = {title: path for title, path in pages.items() if options.only in title}
            markets = measure(small, options.rounds, chosen, sign_in)
        with on(markets[-1]):
            quick_ship(repeats=size(5, smoke=1))


def supplier_owner() -> Client:
    return _owner(Supplier.objects.order_by("pk")[0])


def retailer_owner() -> Client:
    return _owner(Retailer.objects.order_by("pk")[0])


def few_supplier_owner() -> Client:
    return _owner(Supplier.objects.order_by("-pk")[0])


def few_retailer_owner() -> Client:
    return _owner(Retailer.objects.order_by("-pk")[0])


def _owner(party: Supplier | Retailer) -> Client:
    """Sign in a new owner of a party, and return their browser."""
    logging.getLogger("exchange.request").setLevel(logging.WARNING)
    user = User.objects.create(username=f"{uuid4()}@bench.example")
    Member.objects.create(user=user, member_role=MemberRole.OWNER, **{party.role.value: party})
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    assert client.get("/portal/").status_code == 200, "the owner is not signed in"
    return client


def quick_ship(repeats: int) -> None:
    """Ship one row and 50 rows in turn, and compare the times."""
    # The market's open lines have reserved units, but its stock has none.
    execute("UPDATE inventory_stocklevel SET reserved = 1000000 WHERE on_hand > 1000000")
    client = supplier_owner()
    new = Fulfillment.objects.filter(supplier=1, state=State.NEW, order__held=False, lines__reserved__gt=0)
    numbers = [*new.order_by("pk").distinct().values_list("pk", flat=True)[: repeats * (ROWS + 1)]]
    one, many = [], []
    for _ in range(repeats):
        one.append(_shipped(client, [numbers.pop()]))
        many.append(_shipped(client, [numbers.pop() for _ in range(ROWS)]))
    times = median(many) / median(one)
    verdict = "" if SMOKE or times <= MOST_TIMES else f"    (at most {MOST_TIMES}: NO)"
    print(f"    {'quick ship of 50 rows beside one, in ms':<46} {median(one) * 1000:9.1f} ", end="")
    print(f"{median(many) * 1000:9.1f} {times:7.2f}{verdict}", flush=True)


def _shipped(client: Client, numbers: list[int]) -> float:
    """Ship fulfillments by one form, and return the seconds."""
    rows = "\n".join(f"#{number}\tBENCH-{number}" for number in numbers)
    began = perf_counter()
    answer = client.post("/portal/quick-ship/", {"rows": rows, "ship": "1", "form_id": str(uuid4())})
    seconds = perf_counter() - began
    shipped = Fulfillment.objects.filter(pk__in=numbers, state=State.SHIPPED).count()
    assert shipped == len(numbers), f"{shipped} of {len(numbers)} rows are shipped: {answer.status_code}"
    return seconds
