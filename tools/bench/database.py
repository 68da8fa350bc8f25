"""Servers and databases that belong to the bench: made for one run, dropped after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
import psycopg
from django.db import connection

from tools.launcher.embedded.servers import temporary_servers

TEMPLATE_VARIABLE = "BENCH_TEMPLATE"
"""The variable with the name of a migrated database. Copying it takes a tenth of the migrations' time."""
SAME_EPOCH = """
    UPDATE events_epoch SET incarnation = incarnation() WHERE id = (SELECT max(id) FROM events_epoch)
"""


@contextmanager
def own_servers() -> Iterator[None]:
    """Start PostgreSQL and Redis unless the environment has their URLs, and set Django up for models."""
    with temporary_servers(os.environ) as urls:
        os.environ.update({"RATE_LIMIT": "off", **urls})
        django.setup()
        yield


@contextmanager
def own_database() -> Iterator[None]:
    """Make an empty, migrated database."""
    template = os.environ.get(TEMPLATE_VARIABLE)
    with _copy_of(template) if template else _migrated():
        yield


@contextmanager
def template_database() -> Iterator[str]:
    """Make a migrated database that other processes copy; yield its name."""
    with _migrated():
        name = str(connection.settings_dict["NAME"])
        connection.close()  # PostgreSQL copies only a database without connections
        yield name


@contextmanager
def second_copy() -> Iterator[str]:
    """Copy Django's database and yield the name of the copy. Later rows of the database are not copied."""
    name = str(connection.settings_dict["NAME"])
    _copy(name, f"{name}_small")
    try:
        yield f"{name}_small"
    finally:
        _drop(f"{name}_small")


@contextmanager
def _migrated() -> Iterator[None]:
    name = connection.settings_dict["NAME"]
    connection.settings_dict.setdefault("TEST", {})["NAME"] = f"bench_{name}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


@contextmanager
def _copy_of(template: str) -> Iterator[None]:
    before, name = connection.settings_dict["NAME"], f"{template}_{os.getpid()}"
    _copy(template, name)
    connection.settings_dict["NAME"] = name
    # Continue the template's epoch. In a new epoch, ids would jump ahead, but the market needs ids from one.
    with psycopg.connect(**{**connection.get_connection_params(), "dbname": name}) as raw:
        raw.execute(SAME_EPOCH)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        _drop(name)


def _copy(source: str, copy: str) -> None:
    """Copy a database without connections, on the same server."""
    _drop(copy)
    with connection._nodb_cursor() as cursor:
        connection.close()
        cursor.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{source}"')


def _drop(name: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def database_url(name: str = "") -> str:
    """Return the URL of Django's database, or of another database on its server."""
    known = connection.settings_dict
    at = f"{known['USER']}:{known['PASSWORD']}@{known['HOST'] or '127.0.0.1'}:{known['PORT'] or 5432}"
    return f"postgresql://{at}/{name or known['NAME']}"


def execute(statement: str, params: Any = None) -> list[tuple[Any, ...]]:
    """Run a statement on Django's database and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall() if cursor.description else []
