"""Run the part that is named, or all: each in a process of its own, with servers of its own."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tools.bench.database import own_servers

HELPERS = {"__main__", "database", "files", "measuring", "options", "random_markets", "worker"}


def parts() -> list[str]:
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted({module.name for module in found if not module.ispkg} - HELPERS)


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    names, rest = arguments[:1], arguments[1:]
    if names and names[0] not in parts():
        sys.exit(f"There is no part {names[0]!r}; there are {', '.join(parts())}.")
    if not names:
        failed = [
            name for name in parts() if subprocess.run([sys.executable, "-m", "tools.bench", name]).returncode
        ]
        sys.exit(f"These parts did not end well: {', '.join(failed)}." if failed else 0)
    print(f"== {names[0]}", flush=True)
    with own_servers():  # the part's module imports models
        import_module(f"tools.bench.{names[0]}").main(rest)


if __name__ == "__main__":
    main(sys.argv[1:])
