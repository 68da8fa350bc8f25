"""Fixtures of all tests.

The standard parties are the suppliers Acme and Rival, and the retailers Shop (partner of both) and Boutique
(partner of Rival only).
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import factory
import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import TransactionTestCase

from accounts import rates
from accounts.models import Retailer, Supplier
from api import redis_cache, signs_of_life
from catalog.models import Variant
from inventory.models import Warehouse
from tests import event_data
from tests.client import ApiClient
from tests.factories import (
    IssuedKeyFactory,
    PartnershipFactory,
    RetailerFactory,
    StockLevelFactory,
    SupplierFactory,
    VariantFactory,
    WarehouseFactory,
)
from tests.migrated_once import MigrationTurn

# Files with few but slow tests. They run first: the other workers would wait for a slow file at the end.
FIRST = (
    "backoffice/test_desk_pages.py",
    "backoffice/test_search.py",
    "contract/test_long_past.py",
    "contract/test_schema.py",
    "imports/test_superseding.py",
    "architecture/test_files.py",
    "architecture/test_states.py",
    "architecture/test_house.py",
    "architecture/test_words.py",
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Sort the tests for the workers of `make test`: slow files first, then the files with the most tests."""
    yield  # pytest-randomly shuffles the tests first, and the sort below keeps its order for equal keys
    if "PYTEST_XDIST_WORKER" in os.environ:
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (not str(item.path).endswith(FIRST), -tests[item.path]))


FILLED_BY_MIGRATIONS = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "django_migrations",
    "events_epoch",
}

gc.disable()  # collecting the tests makes almost no garbage, and each garbage collection takes long


def pytest_collection_finish() -> None:
    """Exclude loaded code from garbage collection, which saves time in every test."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.fixture
def acme(db: None) -> Supplier:
    return _supplier("Acme")


@pytest.fixture
def rival(db: None) -> Supplier:
    return _supplier("Rival")


def _supplier(name: str) -> Supplier:
    supplier = SupplierFactory.create(name=name)
    WarehouseFactory.create_in_bulk(
        2,
        supplier=supplier,
        name=factory.Iterator([f"{name} East", f"{name} West"]),
        is_default=factory.Iterator([True, False]),
    )
    return supplier


@pytest.fixture
def shop(acme: Supplier, rival: Supplier) -> Retailer:
    retailer = RetailerFactory.create(name="Shop")
    PartnershipFactory.create_in_bulk(
        2,
        retailer=retailer,
        supplier=factory.Iterator([acme, rival]),
        retailer_erp_id=factory.LazyAttribute(lambda partnership: f"ERP-{partnership.supplier.name}"),
        retailer_shipper_account="UPS-77",
    )
    return retailer


@pytest.fixture
def boutique(rival: Supplier) -> Retailer:
    retailer = RetailerFactory.create(name="Boutique")
    PartnershipFactory.create(retailer=retailer, supplier=rival)
    return retailer


@pytest.fixture
def client_for() -> Callable[..., ApiClient]:
    """Return a function that makes a client with a new key of a party."""

    def make(party: Supplier | Retailer, **key: Any) -> ApiClient:
        _, secret = IssuedKeyFactory.create(party=party, **key)
        return ApiClient(secret, f"/v3/{party.role}s/{party.pk}")

    return make


@pytest.fixture
def anonymous() -> ApiClient:
    return ApiClient()


@pytest.fixture
def a_variant() -> Callable[..., Variant]:
    """Return a function that creates a listed variant.

    With `stock`, the function also creates a stock level in the supplier's default warehouse.
    """

    def make(supplier: Supplier, sku: str, *, stock: int | None = None, **fields: Any) -> Variant:
        variant = VariantFactory.create(supplier=supplier, sku=sku, **fields)
        if stock is not None:
            warehouse = Warehouse.objects.get(supplier=supplier, is_default=True)
            StockLevelFactory.create(variant=variant, warehouse=warehouse, on_hand=stock)
        variant.refresh_from_db()
        return variant

    return make


@pytest.fixture(autouse=True, scope="session")
def _fast_hashes_and_static_files() -> None:
    """Use a fast password hash. Let WhiteNoise find static files on request, not at each client's start."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(autouse=True, scope="session")
def _second_factors_only_of_groups() -> None:
    """Require a second factor only in groups that require one, unless a test changes the setting."""
    settings.SECOND_FACTOR = "groups"


@pytest.fixture(autouse=True, scope="session")
def _longer_waits_for_redis() -> Iterator[None]:
    """Wait longer for Redis: on a busy machine, its answer can take longer than the service's time limits."""
    with (
        mock.patch.object(rates, "TIMEOUT", 30.0),
        mock.patch.object(redis_cache, "ANSWER_WITHIN", 30.0),
        mock.patch.object(signs_of_life, "ANSWER_WITHIN", 30.0),
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_deletion_of_rows() -> Iterator[None]:
    """Delete the rows of each test that commits, in a faster way than Django's.

    Django would truncate all tables, which takes 84 ms instead of 1 ms for a few rows, and then create
    each permission and group again.
    """
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    filled = sorted(tables - FILLED_BY_MIGRATIONS)
    delete = "; ".join(f'DELETE FROM "{table}"' for table in filled)
    truncate = "TRUNCATE " + ", ".join(f'"{table}"' for table in filled)

    def empty(case: TransactionTestCase) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT max(pg_relation_size(oid)) > 1000000 FROM pg_class WHERE relname = ANY(%s)", [filled]
            )
            (large,) = cursor.fetchone()
            # Delete twice, because the triggers of the first deletion write rows to a log.
            cursor.execute(truncate if large else f"{delete}; {delete}")

    with mock.patch.object(TransactionTestCase, "_fixture_teardown", empty):
        yield


@pytest.fixture(autouse=True, scope="module")
def _empty_large_tables(django_db_blocker: Any) -> Iterator[None]:
    """Truncate the tables that the module's tests made large: dead rows would slow down all later tests."""
    yield
    if connection.connection is None:
        return
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(quote_ident(relname), ', ') FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 200000"
            " AND relname <> ALL(%s)",
            [[*FILLED_BY_MIGRATIONS]],
        )
        (large,) = cursor.fetchone()
        if large:
            cursor.execute(f"TRUNCATE {large} CASCADE")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, tmp_path_factory: pytest.TempPathFactory
) -> MigrationTurn | None:
    """Let xdist's workers create their databases in turn: the first worker migrates, the others copy."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    return MigrationTurn(tmp_path_factory.getbasetemp().parent)


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_modify_db_settings: MigrationTurn | None, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """End all other sessions before the database is dropped.

    PostgreSQL does not drop a database with a session, and killed processes may have left sessions.
    """
    turn = django_db_modify_db_settings
    with django_db_blocker.unblock():
        if turn:
            turn.end()
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
        if turn:
            turn.drop_template()


@pytest.fixture(scope="session")
def live_server(django_db_setup: None, live_server: Any) -> Any:
    """Return a server that stops before the test database is dropped.

    Fixtures end in reverse order, so this fixture needs `django_db_setup` even if no earlier test used it.
    """
    return live_server


@pytest.fixture(autouse=True)
def _reset_rate_limits() -> None:
    """Reset the counts of the rate limits: they are in Redis, and earlier tests have changed them."""
    cache.clear()


@pytest.fixture(autouse=True)
def _every_event_fits_its_type() -> Iterator[None]:
    """Check the data of each event that the service records in a test."""
    with mock.patch("events.recording.Event", event_data.checked_event):
        yield
