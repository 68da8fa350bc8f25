"""An operator's action on ten thousand orders: its speed, and its effect on the clients of the API.

A worker holds the orders without other load, then releases them while clients push and list orders.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User

from accounts.actors import Actor
from accounts.models import OperatorAction
from accounts.operating import bulk_actions
from orders.models import Order
from tools.bench.database import own_database
from tools.bench.measuring import ratio, timed
from tools.bench.operating import market
from tools.bench.options import read_options
from tools.bench.orders import operations
from tools.bench.serving.load import Round, clients
from tools.bench.serving.market import open_market
from tools.bench.serving.rounds import LoadTarget, in_turn, p95
from tools.bench.serving.service import database_url, running_service
from tools.bench.sizes import SMOKE, size

MOST = 2.0
"""The most time that a call may take beside the worker, which uses one of two cores, as a multiple."""


def main(arguments: list[str]) -> None:
    options = read_options("bulk", arguments, rows=size(10_000, smoke=40))
    with own_database():
        with timed(f"a market of {options.rows * 5 // 4:,} open orders"):
            secrets = open_market()
            market.grow(0, options.rows * 5 // 4)
            market.furnish(options.rows * 5 // 4)
        requests_of = {
            name: requests
            for name, requests in operations(secrets).items()
            if name.startswith(("push", "list"))
        }
        with running_service() as service, clients() as pool:
            targets = {
                name: LoadTarget(service.port, [request.real_bytes() for request in requests])
                for name, requests in requests_of.items()
            }
            measure(pool, targets, options.rows)


def measure(pool: ProcessPoolExecutor, targets: dict[str, LoadTarget], rows: int) -> None:
    with timed(f"{rows:,} orders are held, without other load", rows):
        _wait_for(_begin("hold", rows))
    alone = in_turn(pool, targets, connections=1)
    worker = _begin("release", rows)
    beside = in_turn(pool, targets, connections=1)
    if worker.poll() is not None and not SMOKE:
        raise SystemExit("The action ended before the load did. Give more --rows.")
    seconds = _wait_for(worker)
    print(f"  {'orders released per second, beside clients':<66} {rows / seconds:10,.0f}")
    for name in targets:
        _compare(name, beside[name], alone[name])


def _compare(name: str, beside: list[Round], alone: list[Round]) -> None:
    with_it, without = p95(beside), p95(alone)
    print(f"  {f'{name}: p95 in ms with the action, without it':<66} {with_it:8.1f} {without:8.1f}")
    ratio(f"  {name}, with / without", with_it, without, MOST)


def _begin(name: str, rows: int) -> subprocess.Popen[str]:
    """Start a worker for an action on this many orders, after their selection and preview."""
    order_admin: Any = admin.site.get_model_admin(Order)
    user, _ = User.objects.get_or_create(username="bench")
    orders = Order.objects.filter(held=name == "release").exclude(processing_state="completed")
    first = orders.filter(pk__in=orders.order_by("pk").values("pk")[:rows])
    action = order_admin.find_action(name)
    chosen = bulk_actions.choose(order_admin, action, first, by=Actor.of_user(user))
    while not chosen.looked_at:
        bulk_actions.advance(chosen, order_admin, seconds=60)
    bulk_actions.confirm(chosen, {"reason": "bench"}, by=Actor.of_user(user))
    command = [sys.executable, "-m", "tools.bench.operating.acting", str(chosen.pk)]
    environment = {**os.environ, "DATABASE_URL": database_url()}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def _wait_for(worker: subprocess.Popen[str]) -> float:
    """Wait until the worker has ended, and return the seconds that it printed."""
    output, _ = worker.communicate()
    left = OperatorAction.objects.latest("pk").counts()["left"]
    if worker.returncode or left:
        raise SystemExit(f"The worker left {left} rows undone.")
    return float(output.split()[-1])
