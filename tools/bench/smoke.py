"""A run of every part at a tiny scale. It proves that each part still works, and measures nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tools.bench.database import TEMPLATE_VARIABLE, own_servers, template_database
from tools.bench.sizes import SMOKE_VARIABLE

AT_ONCE = 2
MOST_SECONDS = 300.0
ROW = re.compile(r"^ {2,}\S.*\d", re.MULTILINE)
"""A row of a part's table: indented, with a number."""


def smoke(parts: Iterable[str]) -> int:
    """Run these parts and return the exit code. The parts share the servers and one migrated template."""
    with own_servers(), template_database() as template, ThreadPoolExecutor(AT_ONCE) as pool:
        os.environ.update({SMOKE_VARIABLE: "1", TEMPLATE_VARIABLE: template})
        passed = [*pool.map(_passes, parts)]
    print(f"{passed.count(True)} passed, {passed.count(False)} failed")
    return 0 if all(passed) else 1


def _passes(part: str) -> bool:
    """Run a part in its own process and print its output. Return whether it succeeded and printed a table."""
    began, command = time.monotonic(), [sys.executable, "-m", "tools.bench", part]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        ending = threading.Timer(MOST_SECONDS, run.kill)
        ending.start()
        output, _ = run.communicate()
        ending.cancel()
    failure = f"failed: exit code {run.returncode}" if run.returncode else ""
    if not failure and not ROW.search(output):
        failure = "failed: printed no table"
    print(f"== {part}: {failure or 'passed'} ({time.monotonic() - began:.1f} s)\n{output}", flush=True)
    return not failure
