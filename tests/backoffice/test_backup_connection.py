"""The programs of PostgreSQL connect as the service does."""

from __future__ import annotations

import subprocess

from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from backoffice import backups


def test_a_backup_uses_the_connection_parameters_of_database_url(monkeypatch):
    calls = []
    monkeypatch.setattr(backups, "program", lambda name: name)
    monkeypatch.setattr(subprocess, "run", lambda command, **options: calls.append((command, options["env"])))
    given = {"sslmode": "verify-full", "sslrootcert": "/etc/ssl/pg.pem", "options": "-c statement_timeout=5s"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", given)
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "hidden")

    backups.run("pg_dump", "-Fc")

    (((program, _, address, *arguments), environment),) = calls
    used = conninfo_to_dict(address)
    assert (program, arguments) == ("pg_dump", ["-Fc"])
    assert (used["sslmode"], used["sslrootcert"]) == ("verify-full", "/etc/ssl/pg.pem")
    # A dump may take hours, so the time limits of the service do not apply to it.
    assert not {"options", "password"} & used.keys()
    assert environment["PGPASSWORD"] == "hidden"
