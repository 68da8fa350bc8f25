"""The commands `backup` and `restore` say in a sentence what failed, and what a backup lacks."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError

from backoffice import backups


def away(*_: object, **__: object) -> None:
    raise OperationalError("connection refused")


@pytest.fixture
def made(monkeypatch):
    """Let each backup be an empty folder."""
    monkeypatch.setattr(backups, "make", lambda folder, **_: (folder / backups.KEYS).mkdir(parents=True))


def test_a_backup_without_the_database_fails_with_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(backups, "make", away)

    with pytest.raises(CommandError, match=r"The backup failed: connection refused"):
        call_command("backup", tmp_path / "new")


def test_a_restore_without_the_database_fails_with_a_sentence(monkeypatch, tmp_path):
    (tmp_path / backups.DUMP).touch()
    monkeypatch.setattr(backups, "is_empty", away)

    with pytest.raises(CommandError, match=r"The restore failed: connection refused"):
        call_command("restore", tmp_path)


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_folder_that_cannot_be_read_is_named(command, tmp_path):
    """A folder without permission, and a name that is too long, raise OSError when they are looked up."""
    folder = tmp_path / ("x" * 300)

    with pytest.raises(CommandError, match=rf"The {command} failed: .*File name too long.*xxx"):
        call_command(command, folder)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(("url", "said"), [("s3://bucket", True), ("", False)])
def test_a_backup_says_that_it_lacks_the_bucket(tmp_path, settings, url, said):
    settings.UPLOADS_URL = url
    output = io.StringIO()

    call_command("backup", tmp_path / "new", stdout=output)

    assert ("The bucket of UPLOADS_URL is not in the backup." in output.getvalue()) == said


@pytest.mark.usefixtures("made")
def test_a_backup_without_files_does_not_speak_of_the_bucket(tmp_path, settings):
    settings.UPLOADS_URL = "s3://bucket"
    output = io.StringIO()

    call_command("backup", tmp_path / "new", "--without-files", stdout=output)

    assert "UPLOADS_URL" not in output.getvalue()
