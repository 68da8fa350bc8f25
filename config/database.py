"""How long a connection to PostgreSQL may wait, by what the process does (docs/adr/0060).

The limits travel with the connection (`options`), so they hold for every statement, in every thread, and
nobody has to remember to set them.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import dj_database_url
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

log = logging.getLogger(__name__)

PLACE = re.compile(r"(\[[^\]]+\]|[^:\[\]]+)(?::(\d+))?")
"""A host, and its port."""


@dataclass(frozen=True)
class Limits:
    """Seconds until PostgreSQL gives up; 0 for never."""

    lock: int
    """For each lock: a row, another transaction's key, an advisory lock."""
    statement: int
    idle_in_transaction: int
    """Between two statements of a transaction: a frozen process must not keep what it has locked."""

    def options(self) -> str:
        """As the `options` of a connection."""
        values = {
            "lock_timeout": f"{self.lock}s",
            "statement_timeout": f"{self.statement}s",
            "idle_in_transaction_session_timeout": f"{self.idle_in_transaction}s",
            **SERVER_KEEPALIVES,
        }
        return " ".join(f"-c {name}={value}" for name, value in values.items())


# A peer whose machine is gone is noticed within half a minute, by both sides; the default is two hours.
KEEPALIVES = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
SERVER_KEEPALIVES = {f"tcp_{name}": str(value) for name, value in KEEPALIVES.items()}
CONNECT_TIMEOUT = 5

LIMITS = {
    # A request: contract 13, Transactions.
    "web": Limits(lock=5, statement=30, idle_in_transaction=30),
    # A worker's statements run over whole files.
    "worker": Limits(lock=60, statement=3600, idle_in_transaction=60),
    # SFTP, migrations, an operator's shell.
    "command": Limits(lock=30, statement=0, idle_in_transaction=300),
}


def parse_url(url: str) -> dict[str, Any]:
    """DATABASE_URL as Django wants it. Several hosts may each have a port: `one:5432,two:6432`."""
    parts = urlsplit(url)
    login, at, places = parts.netloc.rpartition("@")
    if "," not in places or ":" not in places:
        return {**dj_database_url.parse(url)}
    found = [PLACE.fullmatch(place) for place in places.split(",")]
    if None in found:
        raise ImproperlyConfigured(f"DATABASE_URL names its hosts as {places}: write host:port,host:port.")
    hosts = {
        "host": ",".join(each[1].strip("[]") for each in found if each),
        "port": ",".join(each[2] or "5432" for each in found if each),
    }
    query = "&".join(filter(None, (parts.query, urlencode(hosts))))
    return {**dj_database_url.parse(parts._replace(netloc=f"{login}{at}", query=query).geturl())}


def connection_options(given: dict[str, Any]) -> dict[str, Any]:
    """The OPTIONS of a connection; what DATABASE_URL itself says stands above ours."""
    options = f"{LIMITS['command'].options()} {given.get('options', '')}".rstrip()
    return {"connect_timeout": CONNECT_TIMEOUT, **KEEPALIVES, **given, "options": options}


def limit_connections(kind: str) -> None:
    """Give the connections that this process makes from now on the limits of its kind."""
    options = connections.settings["default"]["OPTIONS"]
    for limits in LIMITS.values():
        options["options"] = options.get("options", "").replace(limits.options(), LIMITS[kind].options())


def notice_another_database(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """A connection was made: to a standby that was promoted, or to a restored backup, perhaps."""
    from events import epochs  # settings are read before there are any apps

    if not apps.ready or connection is not connections[DEFAULT_DB_ALIAS]:
        return
    try:
        epochs.notice()
    except ProgrammingError:  # before the first `migrate`
        return
    except DatabaseError as error:
        # What must not come again asks once more before it is given out.
        log.warning("No new epoch of the database could begin: %s", error)


connection_created.connect(notice_another_database)
