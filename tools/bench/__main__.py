"""The command that runs the named part, or all parts, each in its own process with its own servers."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

from tools.bench.database import own_servers
from tools.bench.smoke import smoke

PARTS = (
    *("compared", "cores", "desk", "disk", "guards", "imports", "inventory"),
    *("orders", "portal", "pull", "routing", "sftp", "slips", "tracking"),
)
ENVIRONMENT = {"portal": {"BENCH_PARTIES": "1"}}
"""Environment variables for the process of a part. In `portal`, one supplier has all fulfillments."""


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    words = [word for word in arguments if word != "--smoke"]
    names, options = words[:1], words[1:]
    if names and names[0] not in PARTS:
        sys.exit(f"There is no part {names[0]!r}. The parts are {', '.join(PARTS)}.")
    if "--smoke" in arguments:
        sys.exit(smoke(names or PARTS))
    if not names:
        command = [sys.executable, "-m", "tools.bench"]
        failed = [part for part in PARTS if subprocess.run([*command, part]).returncode]
        sys.exit(f"These parts failed: {', '.join(failed)}." if failed else 0)
    print(f"== {names[0]}", flush=True)
    os.environ.update(ENVIRONMENT.get(names[0], {}))
    with own_servers():  # set Django up before the import, because the part's module imports models
        import_module(f"tools.bench.{names[0]}").main(options)


if __name__ == "__main__":
    main(sys.argv[1:])
