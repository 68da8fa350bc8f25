"""The times and queries of the portal's pages: a market with many fulfillments beside a market with few.

One supplier and one retailer have nearly all fulfillments of a market. The large market has `--orders`
fulfillments. Another supplier and another retailer have only a few old rows. Their pages must be as fast in
the large market as in the small market.
"""

from __future__ import annotations

from functools import partial
from uuid import uuid4

from django.contrib.auth.models import User

from accounts.member_roles import MemberRole
from accounts.models import Member, Retailer, Supplier
from fulfillments.states import State, sql
from tools.bench.database import execute
from tools.bench.operating.two_markets import ORDERS, ROUNDS, WAITING, compare, on, two_markets
from tools.bench.options import read_options
from tools.bench.sizes import size

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
    "team": "/portal/team/",
    "products": "/portal/products/",
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
FEW_ROWS = f"""
    INSERT INTO accounts_supplier (name, priority, safety_stock) VALUES ('Few', 100, 0);
    INSERT INTO accounts_retailer (name) VALUES ('Few');
    INSERT INTO accounts_partnership (retailer_id, supplier_id, retailer_erp_id, retailer_shipper_account,
            service_types, is_active, refuse_short_orders, cancelation_default)
        SELECT max(r.id), max(s.id), 'ERP-F', 'UPS-F', '{{ecommerce}}', true, false, 'wait'
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
    INSERT INTO fulfillments_return (fulfillment_id, return_id, reason, items)
        SELECT id, 'R-' || id, 'Too large', '[]' FROM fulfillments_fulfillment
        WHERE state = {sql(State.SHIPPED)} AND (mod(id, 20) = 0 OR id BETWEEN 4001 AND 4060) ORDER BY id;
"""


def main(arguments: list[str]) -> None:
    options = read_options("portal", arguments, only=True, orders=ORDERS, waiting=WAITING, rounds=ROUNDS)
    with two_markets(options.orders, options.waiting) as markets:
        for database in markets:
            with on(database):
                execute(FEW_ROWS)
                execute("VACUUM ANALYZE")
        for order, prefix in (("pk", ""), ("-pk", "few rows, ")):
            for party, pages in ((Supplier, OF_SUPPLIER), (Retailer, OF_RETAILER)):
                chosen = {
                    f"{prefix}{title}": path
                    for title, path in [*pages.items()][:: size(1, smoke=3)]
                    if options.only in f"{prefix}{title}" and not (prefix and path == "/portal/purchases/3/")
                }
                compare(markets, options.rounds, chosen, partial(owner, party, order))


def owner(party: type[Supplier | Retailer], order: str) -> User:
    """Create an owner of the party that is first when parties are sorted by `order`."""
    user = User.objects.create(username=f"{uuid4()}@bench.example")
    name = "supplier" if party is Supplier else "retailer"
    Member.objects.create(user=user, member_role=MemberRole.OWNER, **{name: party.objects.order_by(order)[0]})
    return user
