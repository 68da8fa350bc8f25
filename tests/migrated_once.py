"""The first worker of a test run migrates its database; the other workers copy the result."""

from __future__ import annotations

import fcntl
from pathlib import Path
from unittest import mock

from django.db import connection

from events import epochs

TEMPLATE = "test_exchange_template"


class MigrationTurn:
    """A worker's turn to create its test database. Only one worker at a time has the turn."""

    def __init__(self, folder: Path) -> None:
        """Wait for the turn. `folder` is shared by all workers of the run."""
        self._lock = (folder / "template.lock").open("w")
        self._exists = folder / "template.exists"
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.migrates = not self._exists.exists()
        connection.settings_dict["TEST"]["TEMPLATE"] = None if self.migrates else TEMPLATE
        # The service would treat the copy as a restored database, and begin an epoch with higher numbers.
        self._no_new_epoch = mock.patch.object(epochs, "IS_ANOTHER", "SELECT false")
        self._no_new_epoch.start()

    def end(self) -> None:
        """End the turn. The first worker copies its database to the template before any test writes."""
        connection.settings_dict["TEST"]["TEMPLATE"] = None  # some tests create databases themselves
        if self.migrates:
            name = connection.settings_dict["NAME"]
            connection.close()  # PostgreSQL copies only a database without connections
            _execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}"')
            _execute(f'CREATE DATABASE "{TEMPLATE}" TEMPLATE "{name}"')
            self._exists.touch()
        else:
            with connection.cursor() as cursor:
                cursor.execute("UPDATE events_epoch SET incarnation = incarnation()")
        self._no_new_epoch.stop()
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def drop_template(self) -> None:
        """Drop the template if this worker made it. A worker that starts later migrates its own database."""
        if self.migrates:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._exists.unlink(missing_ok=True)
            _execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}"')
        self._lock.close()


def _execute(statement: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)
