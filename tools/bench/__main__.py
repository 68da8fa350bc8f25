"""Run the named part, or all parts, each in its own process with its own servers."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tools.bench.database import own_servers
from tools.bench.smoke import smoke

HELPERS = {
    *("__main__", "database", "files", "measuring", "options", "random_markets", "sizes", "smoke"),
    "worker",
}
ENVIRONMENT = {"portal": {"BENCH_PARTIES": "1"}}
"""The variables of a part's process. One supplier of the portal has all fulfillments."""


def parts() -> list[str]:
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted({module.name for module in modules if not module.ispkg} - HELPERS)


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    is_smoke = "--smoke" in arguments
    words = [word for word in arguments if word != "--smoke"]
    names, options = words[:1], words[1:]
    if names and names[0] not in parts():
        sys.exit(f"There is no part {names[0]!r}. The parts are {', '.join(parts())}.")
    if is_smoke:
        sys.exit(smoke(names or parts()))
    if not names:
        sys.exit(_run_all())
    print(f"== {names[0]}", flush=True)
    os.environ.update(ENVIRONMENT.get(names[0], {}))
    with own_servers():  # the part's module imports models
        import_module(f"tools.bench.{names[0]}").main(options)


def _run_all() -> str | int:
    command = [sys.executable, "-m", "tools.bench"]
    failed = [part for part in parts() if subprocess.run([*command, part]).returncode]
    return f"These parts failed: {', '.join(failed)}." if failed else 0


if __name__ == "__main__":
    main(sys.argv[1:])
