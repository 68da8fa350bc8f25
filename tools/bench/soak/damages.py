"""Damage to stored values. `manage.py reconcile --fix` repairs each value while the traffic goes on."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from threading import Event

import psycopg

from tools.bench.soak.verdict import SHIPPED

# Damage only fulfillments of the traffic, because a later step of a scenario would read the damaged parcels.
AT_REST = (
    "SELECT id FROM fulfillments_fulfillment WHERE supplier_id = (SELECT min(id) FROM accounts_supplier)"
)
# Damage only values that later changes do not read. The next movement of a damaged stock level would store
# its wrong number, so the ledger would confirm the damage.
DAMAGES = (
    "DELETE FROM orders_searchentry WHERE order_id % 7 = 0",
    f"DELETE FROM fulfillments_shipment WHERE fulfillment_id % 11 = 0 AND fulfillment_id IN ({AT_REST})",
    "DELETE FROM inventory_stockmovement WHERE kind = 'ship' AND id % 13 = 0",
    "DELETE FROM inventory_stockmovement WHERE kind = 'reserve' AND id % 17 = 0",
    "UPDATE orders_orderline SET waiting_since = now() WHERE id % 5 = 0 AND waiting_since IS NULL",
    "UPDATE orders_retailerclock SET completed = completed + 3, pending = pending + 1",
    "UPDATE orders_order SET has_unknown_country = true WHERE id % 3 = 0",
    f"UPDATE fulfillments_fulfillmentline SET shipped = 0 WHERE id % 9 = 0 AND fulfillment_id IN ({AT_REST})",
    f"UPDATE fulfillments_fulfillment SET due_at = now() WHERE state = '{SHIPPED}' AND id % 4 = 0",
    "UPDATE fulfillments_dailysum SET count = count + 1 WHERE measure = 'created'",
)


class Damages:
    """The damages of a run. The command repairs each damage; `left` has the reports of failed repairs."""

    def __init__(self, database: str, repair: Callable[[], subprocess.CompletedProcess[str]]) -> None:
        self.database, self.repair = database, repair
        self.left: list[str] = []

    def damage(self, stop: Event) -> None:
        statement = random.choice(DAMAGES)
        with psycopg.connect(self.database, autocommit=True) as session:
            session.execute(statement.encode())
        done = self.repair()
        if done.returncode:
            self.left.append(f"after {statement}: {done.stdout}{done.stderr}")
