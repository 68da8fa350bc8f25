"""All hosts share one SECRET_KEY, which can be changed. A process that only reads settings writes no file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core import signing
from django.core.management import call_command
from django.core.management.base import CommandError

from backoffice.groups import OPERATORS
from sftp_ingest.server.host_key import host_keys, public_line
from tests.backoffice.second_factors import PASSWORD, Person
from tests.factories import RemoteHostFactory, StaffFactory


@pytest.mark.django_db
def test_secrets_of_an_older_key_are_read_and_can_be_encrypted_again(acme, settings, capsys):
    host = RemoteHostFactory.create(supplier=acme)
    host.set_password("s3cret")
    host.save(update_fields=["password"])
    ada = Person("ada")
    StaffFactory.create(username="ada", password=PASSWORD, group=OPERATORS)
    ada.sign_in()
    codes = ada.set_up()
    signed = signing.dumps("a session")

    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the new one"
    host.refresh_from_db()
    assert host.read_password() == "s3cret"
    assert signing.loads(signed) == "a session"
    call_command("reencrypt")
    assert "3 secrets" in capsys.readouterr().out

    settings.SECRET_KEY_FALLBACKS = []
    host.refresh_from_db()
    assert host.read_password() == "s3cret"
    ada.sign_in()
    ada.enter(codes[0])
    assert ada.sees_orders()


@pytest.mark.django_db
def test_a_secret_that_no_key_can_decrypt_is_named(acme, settings):
    host = RemoteHostFactory.create(supplier=acme)
    host.set_password("s3cret")
    host.save(update_fields=["password"])

    settings.SECRET_KEY = "the new one"
    with pytest.raises(CommandError, match=str(host)):
        call_command("reencrypt")


def test_a_provided_host_key_is_used_and_never_replaced(settings, tmp_path):
    made = public_line()
    (tmp_path / "shared").mkdir()
    shared = tmp_path / "shared/key"
    settings.SFTP_HOST_KEY_FILE = str(shared)
    with pytest.raises(FileNotFoundError):
        host_keys()

    shared.write_bytes((settings.SECRETS_DIR / "sftp_host_key").read_bytes())
    assert public_line() == made
    # No key of another kind is generated, because each host would generate another key.
    assert [key.get_name() for key in host_keys()] == ["ssh-ed25519"]


def loaded(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start a process that only reads the settings, and return its result."""
    environment = {"PATH": os.defpath, "DATA_DIR": str(folder), **variables}
    command = [sys.executable, "-W", "error", "-c", "import config.wsgi"]
    return subprocess.run(
        command, cwd=django_settings.BASE_DIR, env=environment, text=True, capture_output=True, check=False
    )


@pytest.mark.program
def test_no_folder_is_made_where_the_settings_are_read(tmp_path):
    done = loaded(tmp_path / "data", SECRET_KEY="given")

    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.program
def test_a_key_that_cannot_be_kept_ends_the_start(tmp_path):
    (tmp_path / "file").touch()
    done = loaded(tmp_path / "file/data")

    assert done.returncode == 1
    assert "SECRET_KEY is not set" in done.stderr
