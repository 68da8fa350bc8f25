"""Several parts in one process: ticks run, events are sent, SFTP answers, and all parts end on a signal."""

import json
import signal
import socket
import subprocess
import sys

import pytest
import redis
from django.conf import settings
from django.db import transaction

from api import signs_of_life
from events.models import Delivery
from events.recording import record
from tests.events.webhooks.conftest import ROBOT, a_webhook  # noqa: F401 - a fixture
from tests.events.webhooks.receiving import receiver
from tests.factories import ImportJobFactory
from tests.faults.conftest import environment
from tests.launcher.waiting import eventually
from tools.launcher.embedded.ports import free_port

pytestmark = [pytest.mark.fault, pytest.mark.django_db(transaction=True)]

PARTS = ("beat", "ticker", "fetcher", "webhooks", "sftp")


@pytest.fixture
def shared_process(own_redis, tmp_path, a_webhook):  # noqa: F811
    """Run all parts in one process. Yield the process, its SFTP port, and the receiver of a webhook."""
    port = free_port()
    with receiver() as server, (tmp_path / "log").open("w") as log:
        a_webhook(server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "config.shared_process", *PARTS],
            cwd=settings.BASE_DIR,
            env=environment(
                tmp_path,
                REDIS_URL=own_redis.url,
                SFTP_PORT=str(port),
                LOG_LEVEL="INFO",
                WEBHOOK_NETWORKS="127.0.0.0/8",
            ),
            stderr=log,
        )
        try:
            yield process, port, server
        finally:
            process.kill()
            process.wait()


def signs(own_redis):
    """Return the signs of life by part."""
    with redis.Redis.from_url(own_redis.url, decode_responses=True) as client:
        found = [json.loads(text) for text in client.hgetall(signs_of_life.KEY).values()]
    return {sign["part"]: sign for sign in found}


def test_all_parts_work_in_one_process_and_end_on_a_signal(own_redis, shared_process, tmp_path, acme, shop):
    process, port, server = shared_process
    log = tmp_path / "log"
    eventually(lambda: set(signs(own_redis)) == set(PARTS), "each part has given a sign of life")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        assert client.recv(4) == b"SSH-"
    with transaction.atomic():
        data = {"retailer_order_id": "A-7"}
        record("order.created", by=ROBOT, retailer=shop, order_id=7, data=data)
    server.wait_for(1)
    remote = {"source": "sftp://127.0.0.1/unknown.csv", "options": {"remote": True}}
    job = ImportJobFactory.create(supplier=acme, **remote)

    def fetch_has_failed():
        job.refresh_from_db()
        return job.error

    eventually(fetch_has_failed, "beat woke the ticker, which woke the fetcher")
    memory = sum(sign["memory"] for sign in signs(own_redis).values())

    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert signs(own_redis) == {}
    assert 30e6 < memory < 400e6  # bytes; each part reports its share of the memory of the process
    assert Delivery.objects.get().status == "delivered"
    assert "Traceback" not in log.read_text()
