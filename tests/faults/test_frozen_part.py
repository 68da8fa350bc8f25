"""A part that freezes is killed by its watchdog, so that a restart policy starts it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings

from api import watchdog
from tests.faults.conftest import environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

WATCHED = """
import sys
from pathlib import Path
from api import watchdog
sys.exit(watchdog.run([sys.executable, "manage.py", "send_webhooks"], Path(sys.argv[1]), frozen_after=15.0))
"""


def test_a_frozen_part_is_killed_and_its_watchdog_ends(tmp_path):
    sign = tmp_path / "sign"
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, str(sign)],
        cwd=settings.BASE_DIR,
        env=environment(tmp_path, REDIS_URL=settings.REDIS_URL),
    )
    try:
        end = time.monotonic() + 60
        while not sign.exists():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        (part,) = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
        os.kill(part, signal.SIGSTOP)
        assert process.wait(60) == watchdog.FROZEN
        assert not Path(f"/proc/{part}").exists()
    finally:
        process.terminate()
        process.wait(30)
