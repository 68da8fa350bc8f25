"""Migrations run while processes of the previous version still work.

An old process does not write a new column, so the column needs a default in the database. An old process
still reads a column that the new version drops. No process can write to a table while an index is built
without CONCURRENTLY.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader

from tests.architecture.sources import DOMAIN

# Tables that are small in every installation: building an index on them takes almost no time.
SMALL = {
    *("accounts.supplier", "accounts.retailer", "accounts.partnership", "accounts.apikey"),
    *("inventory.warehouse", "sftp_ingest.sftplogin", "sftp_ingest.remotehost", "events.epoch"),
}
DROPS = re.compile(
    r"DROP\s+(TABLE|COLUMN)|SET\s+NOT\s+NULL|CREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)", re.I
)


def faults(migration: Migration) -> Iterator[str]:
    """Yield the operations that would break an old process or a concurrent writer."""
    new = {each.name.lower() for each in migration.operations if isinstance(each, operations.CreateModel)}
    for each in _unfolded(migration.operations):
        model = getattr(each, "model_name", "").lower()
        if model not in new:
            yield from _fault(each, f"{migration.app_label}.{model}")


def _fault(operation: Any, model: str) -> Iterator[str]:
    what = operation.describe()
    if isinstance(operation, operations.AddField):
        field = operation.field
        if not (field.null or field.has_db_default() or field.many_to_many or field.generated):
            yield f"{what}: needs db_default (or null), because an old process does not write it"
    elif isinstance(operation, operations.AlterField):
        # Allow this operation, because it usually changes only a help text. If it adds NOT NULL, the test
        # with the previous version fails.
        pass
    elif isinstance(operation, operations.AddIndex) and not isinstance(operation, AddIndexConcurrently):
        if model not in SMALL:
            yield f"{what}: needs AddIndexConcurrently, because AddIndex blocks writes meanwhile"
    elif isinstance(operation, operations.RemoveField | operations.RenameField):
        yield f"{what}: an old process still uses it: drop it one version after its last use"
    elif isinstance(operation, operations.DeleteModel | operations.RenameModel | operations.AlterModelTable):
        yield f"{what}: an old process still uses it"
    elif isinstance(operation, operations.RunSQL) and DROPS.search(str(operation.sql)):
        yield f"{what}: {DROPS.search(str(operation.sql))[0]} blocks or breaks an old process"  # type: ignore[index]


def _unfolded(found: Iterable[Any]) -> Iterator[Any]:
    for each in found:
        if isinstance(each, operations.SeparateDatabaseAndState):
            yield from _unfolded(each.database_operations)
        else:
            yield each


def ours() -> dict[str, Migration]:
    loader = MigrationLoader(None)
    return {
        f"{app}.{name}": migration
        for (app, name), migration in loader.disk_migrations.items()
        if app in DOMAIN and not migration.initial
    }


def test_an_old_version_keeps_working_during_a_migration():
    found = {name: list(faults(migration)) for name, migration in ours().items()}

    assert {name: said for name, said in found.items() if said} == {}


def a_migration(*found: Any) -> Migration:
    made = type("New", (Migration,), {"operations": list(found)})
    migration: Migration = made("0099_new", "orders")
    return migration


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (operations.AddField("order", "note", models.TextField(default="")), "db_default"),
        (operations.AddIndex("order", models.Index("note", name="note")), "AddIndexConcurrently"),
        (operations.RemoveField("order", "note"), "one version after"),
        (operations.RunSQL("ALTER TABLE orders_order DROP COLUMN note"), "DROP COLUMN"),
        (operations.RunSQL("CREATE INDEX note ON orders_order (note)"), "CREATE INDEX"),
    ],
)
def test_an_operation_that_stops_an_old_version_is_found(operation, said):
    (found,) = faults(a_migration(operation))
    assert said in found


@pytest.mark.parametrize(
    "operation",
    [
        operations.AddField("order", "note", models.TextField(null=True)),
        operations.AddField("order", "note", models.TextField(db_default="")),
        AddIndexConcurrently("order", models.Index("note", name="note")),
        operations.RunSQL("CREATE INDEX CONCURRENTLY note ON orders_order (note)"),
    ],
)
def test_an_operation_that_an_old_version_survives_passes(operation):
    assert list(faults(a_migration(operation))) == []
