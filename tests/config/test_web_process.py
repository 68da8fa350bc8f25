"""The hooks in gunicorn.conf.py that gunicorn calls for its web processes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

ASK = """
import gc, os, runpy
runpy.run_path("gunicorn.conf.py")["post_worker_init"](None)
print(gc.get_freeze_count(), gc.get_threshold()[0], flush=True)
os._exit(0)  # a normal end can abort if a thread of the hook is writing to stderr
"""


@pytest.mark.program
def test_a_web_process_excludes_loaded_code_from_garbage_collection():
    command = [sys.executable, "-c", ASK]
    found = subprocess.run(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True, check=True)

    frozen, threshold = map(int, found.stdout.split())
    assert frozen > 10_000
    assert threshold > 700
