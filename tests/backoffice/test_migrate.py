"""The command `migrate` with a database of an earlier version, and with its processes still running."""

from __future__ import annotations

from itertools import chain

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


@pytest.fixture
def merged() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Record all merged and all replaced migrations as not applied.

    Return the replaced migrations by the merged migration that replaces them.
    """
    found = {key: list(migration.replaces) for key, migration in MigrationLoader(None).replacements.items()}
    for app, name in [*found, *chain.from_iterable(found.values())]:
        MigrationRecorder(connection).record_unapplied(app, name)
    return found


def test_a_database_with_all_replaced_migrations_needs_nothing(merged):
    for replaced in merged.values():
        record(replaced)

    executor = MigrationExecutor(connection)

    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


@pytest.mark.parametrize("app", ["accounts", "backoffice"])
def test_a_database_with_only_some_replaced_migrations_is_refused(merged, app):
    for (of, _), replaced in merged.items():
        record(replaced[:2] if of == app else replaced)

    with pytest.raises(CommandError) as refused:
        call_command("migrate", verbosity=0)

    assert f"has 2 of the {len(merged_of(merged, app))} migrations that {app}.0001_release_1" in str(
        refused.value
    )
    assert f"lacks is {merged_of(merged, app)[2][1]}" in str(refused.value)
    assert "docs/upgrading.md" in str(refused.value)


def test_a_database_of_a_version_without_the_replaced_migrations_is_refused(merged):
    for (of, _), replaced in merged.items():
        record([(of, "0001_initial"), (of, "0002_service_parts")] if of == "backoffice" else replaced)

    with pytest.raises(CommandError, match=r"has 0 of the \d+ migrations that backoffice.0001_release_1"):
        call_command("migrate", verbosity=0)


def failing(monkeypatch, sqlstates):
    """Make the next runs of Django's command fail with these SQLSTATEs, in their order; later runs succeed.

    Return an iterator with the SQLSTATEs that no run has used yet.
    """
    states = iter(sqlstates)

    def handle(self, *args, **options):
        state = next(states, None)
        if state:
            raise OperationalError from psycopg.errors.lookup(state)()

    monkeypatch.setattr(migrate.Command, "handle", handle)
    monkeypatch.setattr("backoffice.management.commands.migrate.PAUSE", 0)
    monkeypatch.setattr("backoffice.management.commands.migrate.drop_unfinished_indexes", lambda _: None)
    return states


def test_a_migration_that_lost_a_lock_to_a_request_runs_again(monkeypatch, capsys):
    states = failing(monkeypatch, ["40P01", "55P03"])
    call_command("migrate")

    assert next(states, None) is None
    assert capsys.readouterr().err.count("Trying again") == 2


@pytest.mark.parametrize("sqlstates", [["57P01"], ["40P01"] * 20])
def test_another_failure_or_too_many_failures_end_the_command(monkeypatch, sqlstates):
    failing(monkeypatch, sqlstates)

    with pytest.raises(OperationalError):
        call_command("migrate")


def record(migrations):
    for app, name in migrations:
        MigrationRecorder(connection).record_applied(app, name)


def merged_of(merged, app):
    return next(replaced for (of, _), replaced in merged.items() if of == app)
