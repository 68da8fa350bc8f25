"""The first start of an installation: its secrets and its first operator."""

from __future__ import annotations

import os
import re
from stat import S_IMODE

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command

from tests.factories import UserFactory


@pytest.fixture
def secrets(settings, tmp_path):
    settings.SECRETS_DIR = tmp_path
    return tmp_path


def test_secrets_are_generated_once(secrets):
    call_command("make_secrets")
    made = {path.name: path.read_bytes() for path in secrets.iterdir()}
    call_command("make_secrets")

    assert {path.name: path.read_bytes() for path in secrets.iterdir()} == made
    modes = {path.name: S_IMODE(path.stat().st_mode) for path in secrets.iterdir()}
    assert {mode for name, mode in modes.items() if name != "postgres_password"} == {0o600}


def test_the_database_server_can_read_its_password_under_any_umask(secrets):
    before = os.umask(0o077)
    try:
        call_command("make_secrets")
    finally:
        os.umask(before)

    assert S_IMODE((secrets / "postgres_password").stat().st_mode) == 0o644


def test_a_given_database_password_is_kept_with_its_special_characters(secrets, monkeypatch):
    monkeypatch.setenv("POSTGRES_PASSWORD", r"a:b\c")
    call_command("make_secrets")

    assert (secrets / "postgres_password").read_text() == r"a:b\c"
    assert (secrets / "pgpass").read_text() == "*:*:*:*:" + r"a\:b\\c" + "\n"


@pytest.mark.django_db
def test_the_first_operator_gets_a_password_and_the_second_call_changes_nothing(capsys):
    call_command("first_operator")
    (password,) = re.findall(r"password  (\S+)", capsys.readouterr().out)

    assert authenticate(username="operator", password=password) == User.objects.get(is_superuser=True)
    call_command("first_operator")
    assert "superuser already" in capsys.readouterr().out
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_a_taken_name_is_not_changed(capsys):
    UserFactory.create(username="operator", is_superuser=False)
    call_command("first_operator")

    assert "is taken" in capsys.readouterr().out
    assert not User.objects.get().is_superuser
