"""An order from push to shipment through PgBouncer, which lends a session for one transaction at a time."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.factories import IssuedKeyFactory
from tests.faults.conftest import database_url
from tests.orders.push_bodies import an_order
from tools.launcher.embedded.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

POOL = """\
[databases]
* = host={host} port={port} user={user} password={password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
auth_type = any
pool_mode = transaction
default_pool_size = 3
ignore_startup_parameters = extra_float_digits
logfile = {folder}/log
unix_socket_dir =
"""


@pytest.fixture
def pooled(django_db_setup: None) -> Iterator[str]:
    """Run a pooler with three sessions; yield the URL of the tests' database through it."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    # Make a folder that the pooler's user can reach: this user cannot reach a folder of root.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    url, port = urlsplit(database_url()), free_port()
    own = {"host": url.hostname, "port": url.port, "user": url.username, "password": url.password}
    (folder / "ini").write_text(POOL.format(**own, own_port=port, folder=folder))
    uid = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
    process = subprocess.Popen([program, str(folder / "ini")], stderr=subprocess.DEVNULL, user=uid)
    through = url._replace(netloc=f"{url.username}:x@127.0.0.1:{port}").geturl()
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(through):
                break
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        yield through
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def test_an_order_is_completed_through_the_pooler(acme, shop, a_variant, pooled, start_web):
    a_variant(acme, "A-1", stock=50)
    web = start_web(DATABASE_URL=pooled, DATABASE_LIMITS="0", WEB_THREADS="8")
    keys = {party: IssuedKeyFactory.create(party=party)[1] for party in (acme, shop)}
    retailer, supplier = f"/v3/retailers/{shop.pk}", f"/v3/suppliers/{acme.pk}"

    for _ in range(8):  # a statement prepared in one session and used in another would fail
        body = an_order({"sku": "A-1", "quantity": 2})
        assert web.ask("POST", f"{retailer}/orders", secret=keys[shop], body=body).status == 201
    captured = web.ask("GET", f"{supplier}/fulfillments", secret=keys[acme]).json()
    assert len(captured) == 8
    for found in captured[:4]:
        path = f"{supplier}/fulfillments/{found['id']}/setStatus"
        assert web.ask("PUT", f"{path}/accepted", secret=keys[acme]).status == 200
        body = {"tracking_number": "T-1"}
        assert web.ask("PUT", f"{path}/shipped", secret=keys[acme], body=body).status == 200

    pulled = web.ask("GET", f"{retailer}/variants?service_type=ecommerce&limit=9", secret=keys[shop])
    assert (pulled.status, len(pulled.json())) == (200, 1)
    events = web.ask("GET", f"{retailer}/events?limit=100", secret=keys[shop]).json()["results"]
    assert len({event["id"] for event in events}) == len(events) > 16


def test_no_lock_of_a_key_is_left_in_a_session_of_the_pooler(acme, shop, a_variant, pooled, start_web):
    a_variant(acme, "A-1", stock=50)
    web = start_web(DATABASE_URL=pooled, DATABASE_LIMITS="0", WEB_THREADS="8")
    _, shops = IssuedKeyFactory.create(party=shop)
    _, acmes = IssuedKeyFactory.create(party=acme)
    for _ in range(6):
        body = an_order({"sku": "A-1", "quantity": 1})
        assert web.ask("POST", f"/v3/retailers/{shop.pk}/orders", secret=shops, body=body).status == 201

    for found in web.ask("GET", f"/v3/suppliers/{acme.pk}/fulfillments", secret=acmes).json():
        element = {"id": found["id"], "rejectId": "once", "items": [{"sku": "A-1", "quantity": 1}]}
        answer = web.ask(
            "POST",
            f"/v3/suppliers/{acme.pk}/fulfillments/rejections",
            secret=acmes,
            body=[element],
            headers={"Idempotency-Key": f"key-{found['id']}"},
        )
        assert answer.status == 200, answer.content

    held = (  # count only this database's locks, because other test runs share the server
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE locktype = 'advisory' AND datname = current_database()"
    )
    with psycopg.connect(database_url()) as session:
        assert session.execute(held).fetchone() == (0,)
