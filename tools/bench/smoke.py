"""Runs every part at a tiny scale, to prove that each part still works. Nothing is measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tools.bench.database import TEMPLATE_VARIABLE, own_servers, template_database
from tools.bench.sizes import SMOKE_VARIABLE

AT_ONCE = 2
MOST_SECONDS = 300.0
ROW = re.compile(r"^ {2,}\S.*\d", re.MULTILINE)
"""A row of a part's table: indented, with a number."""


@dataclass(frozen=True)
class SmokeResult:
    """The output of one part, and the reason why it failed, if it failed."""

    part: str
    seconds: float
    output: str
    failure: str = ""

    def show(self) -> None:
        print(f"== {self.part}: {self.failure or 'passed'} ({self.seconds:.1f} s)")
        print(self.output, flush=True)


def smoke(parts: Iterable[str]) -> int:
    """Run these parts and return the exit code. The parts share the servers and one migrated template."""
    failed: list[str] = []
    passed = 0
    with own_servers(), template_database() as template, ThreadPoolExecutor(AT_ONCE) as pool:
        environment = {**os.environ, SMOKE_VARIABLE: "1", TEMPLATE_VARIABLE: template}
        for result in pool.map(lambda part: _run(part, environment), parts):
            result.show()
            if result.failure:
                failed.append(result.part)
            else:
                passed += 1
    for part in failed:
        print(f"failed: {part}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


def _run(part: str, environment: Mapping[str, str]) -> SmokeResult:
    began = time.monotonic()
    command = [sys.executable, "-m", "tools.bench", part]
    try:
        run = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        output = (error.output or b"").decode(errors="replace")
        return SmokeResult(part, MOST_SECONDS, output, f"still running after {MOST_SECONDS:.0f} s")
    failure = f"exit code {run.returncode}" if run.returncode else ""
    if not failure and not ROW.search(run.stdout):
        failure = "printed no table"
    return SmokeResult(part, time.monotonic() - began, run.stdout, failure)
