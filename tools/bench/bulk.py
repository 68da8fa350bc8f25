"""An operator's action on ten thousand orders: how fast it is, and what the API's callers notice of it.

Orders are held by a worker alone, then released while others push orders and list them.
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
from tools.bench.serving.rounds import Target, in_turn, p95
from tools.bench.serving.service import database_url, running_service

MOST = 2.0
"""How many times as long a call may take at the worst, while a worker has one of two cores."""


def main(arguments: list[str]) -> None:
    options = read_options("bulk", arguments, rows=10_000)
    with own_database():
        with timed(f"a market of {options.rows * 5 // 4:,} open orders"):
            secrets = open_market()
            market.grow(0, options.rows * 5 // 4)
            market.furnish(options.rows * 5 // 4)
        asked = operations(secrets)
        wanted = {name: each for name, each in asked.items() if name.startswith(("push", "list"))}
        with running_service() as service, clients() as pool:
            targets = {
                name: Target(service.port, [each.real_bytes() for each in requests])
                for name, requests in wanted.items()
            }
            measure(pool, targets, options.rows)


def measure(pool: ProcessPoolExecutor, targets: dict[str, Target], rows: int) -> None:
    with timed(f"{rows:,} orders are held, and nobody else is there", rows):
        _wait_for(_begin("hold", rows))
    alone = in_turn(pool, targets, connections=1)
    worker = _begin("release", rows)
    beside = in_turn(pool, targets, connections=1)
    if worker.poll() is not None:
        raise SystemExit("The action was over before the load: take more rows.")
    seconds = _wait_for(worker)
    print(f"  {'orders released a second, with others':<66} {rows / seconds:10,.0f}")
    for name in targets:
        _compare(name, beside[name], alone[name])


def _compare(name: str, beside: list[Round], alone: list[Round]) -> None:
    with_it, without = p95(beside), p95(alone)
    print(f"  {f'{name}: p95 in ms with the action, without':<66} {with_it:8.1f} {without:8.1f}")
    ratio(f"  {name}, with / without", with_it, without, MOST)


def _begin(name: str, rows: int) -> subprocess.Popen[str]:
    """A worker that does this to so many orders; they were chosen and looked at before."""
    its_admin: Any = admin.site.get_model_admin(Order)
    user, _ = User.objects.get_or_create(username="bench")
    orders = Order.objects.filter(held=name == "release").exclude(processing_state="completed")
    first = orders.filter(pk__in=orders.order_by("pk").values("pk")[:rows])
    action = its_admin.find_action(name)
    chosen = bulk_actions.choose(its_admin, action, first, by=Actor.of_user(user))
    while not chosen.looked_at:
        bulk_actions.advance(chosen, its_admin, seconds=60)
    bulk_actions.confirm(chosen, {"reason": "bench"}, by=Actor.of_user(user))
    command = [sys.executable, "-m", "tools.bench.operating.acting", str(chosen.pk)]
    environment = {**os.environ, "DATABASE_URL": database_url()}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def _wait_for(worker: subprocess.Popen[str]) -> float:
    """The seconds that it took."""
    said, _ = worker.communicate()
    left = OperatorAction.objects.latest("pk").counts()["left"]
    if worker.returncode or left:
        raise SystemExit(f"The worker did not do {left} of its rows.")
    return float(said.split()[-1])
