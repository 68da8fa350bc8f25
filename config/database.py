"""Time limits of connections to PostgreSQL, by the kind of process (docs/adr/0060).

The limits are `options` of the connection, so they apply to every statement in every thread.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import dj_database_url
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from api.several_hosts import SeveralHostsUrl

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConnectionLimits:
    """Time limits of a connection, in seconds. 0 means no limit."""

    lock: int
    """The limit of each wait for a lock: a row lock, a lock of a unique key, or an advisory lock."""
    statement: int
    idle_in_transaction: int
    """The limit between two statements of a transaction: a frozen process must not keep its locks."""

    def options(self) -> str:
        """Return the limits as the `options` of a connection."""
        values = {
            "lock_timeout": f"{self.lock}s",
            "statement_timeout": f"{self.statement}s",
            "idle_in_transaction_session_timeout": f"{self.idle_in_transaction}s",
            **SERVER_KEEPALIVES,
        }
        return " ".join(f"-c {name}={value}" for name, value in values.items())


# With these values, client and server notice a lost connection within half a minute, instead of two hours.
KEEPALIVES = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
SERVER_KEEPALIVES = {f"tcp_{name}": str(value) for name, value in KEEPALIVES.items()}
CONNECT_TIMEOUT = 5

LIMITS = {
    # For requests, as contract 13 (Transactions) specifies.
    "web": ConnectionLimits(lock=5, statement=30, idle_in_transaction=30),
    # For workers, whose statements process whole files.
    "worker": ConnectionLimits(lock=60, statement=3600, idle_in_transaction=60),
    # For all other processes, such as the SFTP server, migrations and an operator's shell.
    "command": ConnectionLimits(lock=30, statement=0, idle_in_transaction=300),
}


SCHEMES = ("postgres", "postgresql", "pgsql")


def parse_url(url: str, setting: str = "DATABASE_URL") -> dict[str, Any]:
    """Return the URL of a setting as Django's settings. Raises ImproperlyConfigured.

    Several hosts may each have a port: `one:5432,two:6432`.
    """
    example = f"{setting} is postgres://user:password@host:5432/name."
    try:
        parts = SeveralHostsUrl.split(url)
        addresses = parts.addresses() if "," in parts.hosts and ":" in parts.hosts else []
        known = parts.scheme in SCHEMES
        database = {**dj_database_url.parse(url)} if known and not addresses else {}
    except ValueError as error:
        raise ImproperlyConfigured(f"{error} {example}") from error
    if not known:
        raise ImproperlyConfigured(f"The service uses PostgreSQL, not {parts.scheme}. {example}")
    if not addresses:
        return database
    hosts = {
        "host": ",".join(host for host, _ in addresses),
        "port": ",".join(port or "5432" for _, port in addresses),
    }
    rest = f"{parts.rest}{'&' if '?' in parts.rest else '?'}{urlencode(hosts)}"
    login = "" if parts.login is None else f"{parts.login}@"
    return {**dj_database_url.parse(f"{parts.scheme}://{login}{rest}")}


def connection_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the OPTIONS of a connection. Options in the URL override the defaults of this module."""
    options = f"{LIMITS['command'].options()} {given.get('options', '')}".rstrip()
    return {"connect_timeout": CONNECT_TIMEOUT, **KEEPALIVES, **given, "options": options}


STANDBY_OPTIONS = {"connect_timeout": 2, "tcp_user_timeout": 3000}
READ_ONLY = "-c default_transaction_read_only=on"


def standby_databases(urls: str, *, limited: bool) -> dict[str, dict[str, Any]]:
    """Return the standbys by alias. Commas or spaces separate the URLs of DATABASE_REPLICA_URLS."""
    databases = {}
    each = re.split(r"[\s,]+(?=postgres\w*://)", urls.strip(" ,")) if urls else []
    for number, url in enumerate(each, start=1):
        standby = parse_url(url, "DATABASE_REPLICA_URLS")
        database = {**standby, "CONN_MAX_AGE": 60, "TEST": {"MIRROR": DEFAULT_DB_ALIAS}}
        options = {**STANDBY_OPTIONS, **database.get("OPTIONS", {})}
        if limited:
            options = connection_options(options)
            # A standby refuses changes. With this option, changes are also refused after its promotion.
            options["options"] += f" {READ_ONLY}"
        databases[f"standby_{number}"] = {**database, "OPTIONS": options}
    return databases


@contextmanager
def exit_without_connection() -> Iterator[None]:
    """Exit with a sentence if the database cannot be reached. Errors of statements keep their traceback."""
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) or "--traceback" in sys.argv:
            raise
        sys.exit(f"The service has no connection to the database (DATABASE_URL): {error}")


def limit_connections(kind: str) -> None:
    """Set the limits of this kind of process for its future connections."""
    for database in connections.settings.values():
        options = database["OPTIONS"]
        for limits in LIMITS.values():
            options["options"] = options.get("options", "").replace(limits.options(), LIMITS[kind].options())


def notice_another_database(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Begin a new epoch if a new connection leads to a promoted standby or a restored backup.

    This is a receiver of Django's `connection_created`.
    """
    from events import epochs  # this module is imported before Django's apps are ready

    is_primary = connection is connections[DEFAULT_DB_ALIAS] and connection.alias == DEFAULT_DB_ALIAS
    if not apps.ready or not is_primary:
        return
    try:
        if epochs.is_known():
            epochs.notice()
    except DatabaseError as error:
        # The error does no harm: code that gives out event numbers checks for a new epoch again.
        log.warning("No new epoch of the database could begin: %s", error)


connection_created.connect(notice_another_database)
