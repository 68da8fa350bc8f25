"""A process reports the names of misspelled settings when it starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings

from config.misspelt import misspelt


@pytest.mark.parametrize(
    "name", ["DATABASE_ULR", "ALOWED_HOSTS", "BEHIND_PROXXY", "WEB_WORKER", "RATE_LIMITS"]
)
def test_a_near_miss_of_a_setting_is_named(name):
    known = ["DATABASE_URL", "ALLOWED_HOSTS", "BEHIND_PROXY", "RATE_LIMIT", "HTTPS", "PORT"]
    (line,) = misspelt([name, *known], known)
    assert line.startswith(f"{name} is not a setting. Did you mean")


def test_variables_of_other_programs_are_ignored():
    others = ["PATH", "HOSTNAME", "LANG", "PGHOST", "REDIS_PORT", "HOME", "https_proxy", "PYTHONPATH"]
    assert misspelt(others, ["DATABASE_URL", "HTTPS", "PORT", "BASE_URL"]) == []


@pytest.mark.program
def test_a_misspelt_setting_is_reported_at_the_start():
    environment = {**os.environ, "REDIS_UL": "redis://elsewhere"}
    command = [sys.executable, "-c", "import config.settings"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, stderr=subprocess.PIPE, text=True, check=True
    )
    assert "REDIS_UL is not a setting. Did you mean REDIS_URL?" in done.stderr
