"""A restore keeps the files of the host, and replaces its keys only on request."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from backoffice import backups


@pytest.fixture
def ran(monkeypatch):
    """Return the names of the PostgreSQL programs that were started. The database counts as empty."""
    names: list[str] = []
    monkeypatch.setattr(backups, "run", lambda name, *arguments: names.append(name))
    monkeypatch.setattr(backups, "is_empty", lambda: True)
    return names


@pytest.fixture
def host(settings, tmp_path):
    """Return the folder of this host's keys and uploads."""
    settings.SECRETS_DIR = tmp_path / "host"
    settings.UPLOADS_DIR = tmp_path / "host/uploads"
    (tmp_path / "host/uploads/blobs").mkdir(parents=True)
    return tmp_path / "host"


@pytest.fixture
def backup(tmp_path):
    folder = tmp_path / "backup"
    (folder / backups.KEYS).mkdir(parents=True)
    (folder / backups.FILES / "blobs").mkdir(parents=True)
    (folder / backups.DUMP).touch()
    (folder / backups.KEYS / "secret_key").write_text("of the backup")
    return folder


def test_a_restore_keeps_the_files_that_exist(backup, host, ran):
    (host / "uploads/blobs/1").write_text("complete")
    (backup / backups.FILES / "blobs/1").write_text("cut")
    (backup / backups.FILES / "blobs/2").write_text("lost")

    backups.restore(backup)

    assert (host / "uploads/blobs/1").read_text() == "complete"
    assert (host / "uploads/blobs/2").read_text() == "lost"
    assert len(list((host / "uploads/blobs").iterdir())) == 2


def test_a_restore_stops_before_the_database_if_the_host_has_other_keys(backup, host, ran):
    (host / "secret_key").write_text("generated a moment ago")

    with pytest.raises(CommandError, match=r"secret_key.*--keys=replace"):
        call_command("restore", backup)

    assert (host / "secret_key").read_text() == "generated a moment ago"
    assert ran == []


def test_equal_keys_need_no_decision(backup, host, ran):
    (host / "secret_key").write_text("of the backup\n")

    assert backups.other_keys(backup) == []


def test_a_restore_replaces_the_keys_on_request_and_keeps_the_former_ones(backup, host, ran):
    (host / "secret_key").write_text("generated a moment ago")

    backups.restore(backup, replace_keys=True)

    assert (host / "secret_key").read_text() == "of the backup"
    assert (host / "secret_key.replaced").read_text() == "generated a moment ago"


def test_a_restore_for_a_trial_keeps_the_keys_of_the_host(backup, host, ran):
    (host / "secret_key").write_text("of a trial host")

    backups.restore(backup)

    assert (host / "secret_key").read_text() == "of a trial host"
    assert ran == ["pg_restore"]


def test_a_restore_whose_disk_is_full_leaves_the_database_empty_for_another_try(
    backup, host, ran, monkeypatch
):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (host / "secret_key").write_text("of the backup")
    (backup / backups.FILES / "blobs/2").write_text("lost")
    with monkeypatch.context() as full:
        full.setattr("backoffice.backups.shutil.copy2", fail)
        with pytest.raises(OSError, match="No space left"):
            backups.restore(backup)
    assert ran == []

    backups.restore(backup)
    assert ran == ["pg_restore"]
    assert (host / "uploads/blobs/2").read_text() == "lost"
