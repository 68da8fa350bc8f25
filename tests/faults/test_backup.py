"""`manage.py backup` and `restore`: the restored data is complete, and `reconcile` confirms this."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from config.settings import BASE_DIR
from inventory.models import StockLevel
from orders.models import Order
from tests.faults import clusters
from tests.faults.clusters import Cluster, connected_to
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.running() as cluster:
        yield cluster


@pytest.fixture
def on_a_new_machine(cluster, settings, tmp_path, request) -> Callable[[], object]:
    """Return a context manager that changes to an empty database and new folders."""

    @contextmanager
    def move() -> Iterator[None]:
        settings.SECRETS_DIR = tmp_path / "new"
        settings.UPLOADS_DIR = tmp_path / "new/uploads"
        with connected_to(clusters.another_database(cluster, request.node.name[:60])):
            yield

    return move


@pytest.fixture
def backup(acme, shop, client_for, a_variant, settings, tmp_path: Path) -> Path:
    """Prepare a host with an order, an import's file and keys. Return the folder for its backup."""
    settings.SECRETS_DIR = tmp_path / "old"
    settings.UPLOADS_DIR = tmp_path / "old/uploads"
    (settings.UPLOADS_DIR / "jobs").mkdir(parents=True)
    (settings.UPLOADS_DIR / "jobs/1").write_text("sku\nA-1\n")
    (settings.SECRETS_DIR / "secret_key").write_text("kept")
    (settings.SECRETS_DIR / "sftp_host_key").write_text("a key")
    a_variant(acme, "A-1", stock=5)
    answer = client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 2}))
    assert answer.status_code == 201
    return tmp_path / "backup"


def test_a_backup_is_restored_and_reconciled(backup, on_a_new_machine, shop, client_for, capsys):
    client = client_for(shop)
    call_command("backup", backup)
    assert backup.stat().st_mode & 0o077 == 0

    with on_a_new_machine():
        call_command("restore", backup)
        new = backup.with_name("new")

        assert "Every counter agrees" in capsys.readouterr().out
        assert (new / "uploads/jobs/1").read_text() == "sku\nA-1\n"
        assert (new / "secret_key").read_text() == "kept"
        assert (new / "sftp_host_key").read_text() == "a key"
        assert client.get(f"orders/{Order.objects.get().pk}").status_code == 200
        assert client.post("orders", an_order({"sku": "A-1", "quantity": 1})).status_code == 201


def test_a_backup_with_wrong_counters_is_restored_and_reported(backup, on_a_new_machine):
    StockLevel.objects.update(on_hand=99)
    call_command("backup", backup, "--without-files")

    with on_a_new_machine(), pytest.raises(CommandError, match="counters differ"):
        call_command("restore", backup)
    assert not backup.with_name("new").joinpath("uploads").exists()


def test_a_restore_overwrites_nothing(backup):
    call_command("backup", backup)

    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", backup)
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", backup)
    with pytest.raises(CommandError, match="is no backup"):
        call_command("restore", backup.with_name("old"))


def test_a_new_machine_gets_the_secret_key_of_its_backup(cluster, tmp_path):
    call_command("backup", tmp_path / "backup", "--without-files")
    (tmp_path / "backup/keys/secret_key").write_text("of the backup")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "SECRET_KEY"},
        "DATABASE_URL": clusters.another_database(cluster, "with_the_former_key"),
        "SECRETS_DIR": str(tmp_path / "new"),
    }
    restore = [sys.executable, "manage.py", "restore", str(tmp_path / "backup")]

    # Each start of `manage.py` generates a missing key, so the restore finds another key than the backup's.
    refused = subprocess.run(restore, cwd=BASE_DIR, env=environment, capture_output=True, text=True)
    assert (refused.returncode, "--keys=replace" in refused.stderr) == (1, True)
    subprocess.run([*restore, "--keys=replace"], cwd=BASE_DIR, env=environment, check=True)

    assert (tmp_path / "new/secret_key").read_text() == "of the backup"
