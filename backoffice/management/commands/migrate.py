import time
from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LOCKED = ("40P01", "55P03")
"""SQLSTATE codes of a deadlock and a lock timeout. The migration is rolled back, so it can run again."""
MOST_TRIES = 20
PAUSE = 1.0  # seconds
UPGRADE_FIRST = (
    "This database has {have} of the {all} migrations that {app}.{name} replaces; the first that it lacks is "
    "{lacks}. Migrate it with the last version that has these files, then with this version "
    "(docs/upgrading.md)."
)


class Command(migrate.Command):
    """The `migrate` command for a database that the old version of the service still uses.

    If a request of the old version holds a lock, the command tries again.

    A squashed migration replaces several migrations. If the database lacks some of the replaced migrations,
    the command refuses to run. Django would skip the app without an error, or create existing tables.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        refuse_unfinished_upgrade(connection)
        for tries_left in reversed(range(MOST_TRIES)):
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if not (tries_left and getattr(error.__cause__, "sqlstate", None) in LOCKED):
                    raise
                self.stderr.write("A request held a lock that a migration needs. Trying again.")
            else:
                return
            drop_unfinished_indexes(connection)
            time.sleep(PAUSE)  # let the request that holds the lock end


def drop_unfinished_indexes(connection: BaseDatabaseWrapper) -> None:
    """Drop indexes whose concurrent build failed, because PostgreSQL does not roll back such a build."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 'DROP INDEX CONCURRENTLY IF EXISTS ' || indexrelid::regclass"
            " FROM pg_index WHERE NOT indisvalid"
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)


def refuse_unfinished_upgrade(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError if an app has migrations, but lacks one that its squashed migration replaces."""
    applied = MigrationRecorder(connection).applied_migrations()
    apps = {app for app, _ in applied}
    for key, migration in MigrationLoader(None).replacements.items():
        lacking = [replaced for replaced in migration.replaces if replaced not in applied]
        if key not in applied and key[0] in apps and lacking:
            app, name = key
            have, all_ = len(migration.replaces) - len(lacking), len(migration.replaces)
            raise CommandError(
                UPGRADE_FIRST.format(app=app, name=name, have=have, all=all_, lacks=lacking[0][1])
            )
