"""Servers and a database that belong to the bench: made for one run, dropped after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django
import psycopg
from django.db import connection

from tools.launcher.embedded.servers import temporary_servers

TEMPLATE_VARIABLE = "BENCH_TEMPLATE"
"""Names a migrated database to copy. A copy takes a tenth of the time of the migrations."""
SAME_EPOCH = """
    UPDATE events_epoch SET incarnation = incarnation() WHERE id = (SELECT max(id) FROM events_epoch)
"""


@contextmanager
def own_servers() -> Iterator[None]:
    """Start a server for each URL that is not given, and set Django up so that models can be imported."""
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
    copy_database(template, name)
    connection.settings_dict["NAME"] = name
    # Otherwise the first query begins a new epoch, and the ids of the market would not start at one.
    with psycopg.connect(**{**connection.get_connection_params(), "dbname": name}) as raw:
        raw.execute(SAME_EPOCH)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        drop_database(name)


def copy_database(source: str, copy: str) -> None:
    """Copy a database without connections, on the same server."""
    with connection._nodb_cursor() as cursor:
        connection.close()
        cursor.execute(f'DROP DATABASE IF EXISTS "{copy}"')
        cursor.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{source}"')


def drop_database(name: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
