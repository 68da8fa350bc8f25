"""Run the parts that are named, or all."""

from __future__ import annotations

import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import bench

HELPERS = {"__main__", "database", "files", "measuring", "worker"}


def parts() -> list[str]:
    found = pkgutil.iter_modules([str(Path(bench.__file__).parent)])
    return sorted({module.name for module in found if not module.ispkg} - HELPERS)


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    names, rest = arguments[:1], arguments[1:]
    if names and names[0] not in parts():
        sys.exit(f"There is no part {names[0]!r}; there are {', '.join(parts())}.")
    for name in names or parts():
        print(f"== {name}", flush=True)
        import_module(f"bench.{name}").main(rest)


if __name__ == "__main__":
    main(sys.argv[1:])
