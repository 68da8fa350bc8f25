"""A wrong setting ends the start of each process with one sentence that names the setting."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.database import parse_url, standby_databases
from config.environment import Environment, row_limits, web_address


def start(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.program
@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("IMPORT_SLOTS", "two", "Not a valid integer"),
        ("IMPORT_SLOTS", "0", "greater than or equal to 1"),
        ("METRICS_NETWORKS", "10.1.2.3/8", "10.1.2.3/8 has host bits set"),
        ("WEBHOOK_NETWORKS", "10.0.0.0/99", "'10.0.0.0/99' does not appear to be an IPv4 or IPv6 network"),
        ("SECOND_OPERATOR_LIMITS", "Order desk:5", "such as Order desk=500"),
        ("LOG_LEVEL", "loud", "DEBUG, INFO"),
        ("BASE_URL", "exchange.example", "does not begin with http:// or https://"),
        ("DATABASE_URL", "sqlite:///exchange", "The service uses PostgreSQL, not sqlite"),
        ("REDIS_URL", "localhost:6379", "redis://host:6379/0"),
        ("RATE_LIMIT", "fast", "not a rate such as 6000/min"),
        ("CURRENCY", "XXQ", "USD, EUR or JPY"),
        ("EVENT_DAYS", "1000000", "less than or equal to 36500"),
        ("SHIPMENT_CORRECTION_DAYS", "-1", "greater than or equal to 0"),
        ("OAUTH_TOKEN_SECONDS", "0", "greater than or equal to 1"),
        ("MAX_BODY_BYTES", "0", "greater than or equal to 1"),
        ("WEBHOOK_SECONDS", "0", "greater than 0"),
        ("ALLOWED_HOSTS", "https://exchange.example", "such as exchange.example, without https://"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(setting, value, remedy):
    done = start("manage.py", "check", **{setting: value})

    (line,) = done.stderr.splitlines()
    assert setting in line
    assert remedy in line
    assert done.returncode == 2


@pytest.mark.program
@pytest.mark.parametrize(
    ("command", "setting"),
    [
        (("-m", "gunicorn", "config.wsgi"), "WEB_WORKERS"),
        (("-m", "celery", "-q", "-A", "config", "beat"), "BACKUP_HOURS"),
        (("-m", "config.shared_process", "beat"), "FAILED_KEYS_LIMIT"),
        (("-m", "config.shared_process", "beat", "sftp"), "UPLOADS_URL"),
        (("-m", "config.shared_process", "beat", "sftp"), "SFTP_HOST"),
        (("-m", "tools.launcher"), "FETCH_THREADS"),
    ],
)
def test_each_process_ends_without_a_traceback(command, setting):
    done = start(*command, **{setting: "many"})

    assert setting in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode != 0


@pytest.mark.program
@pytest.mark.parametrize("command", [("manage.py", "migrate"), ("-m", "tools.launcher.prepare")])
def test_a_command_without_a_database_ends_with_a_sentence(command, tmp_path):
    away = "postgresql://exchange@127.0.0.1:1/exchange"
    done = start(*command, DATABASE_URL=away, DATA_DIR=str(tmp_path))

    assert "The service has no connection to the database (DATABASE_URL): " in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 1


@pytest.mark.program
def test_a_command_shows_its_traceback_on_demand():
    away = "postgresql://exchange@127.0.0.1:1/exchange"

    assert "Traceback" in start("manage.py", "migrate", "--traceback", DATABASE_URL=away).stderr


@pytest.mark.program
def test_a_data_folder_that_cannot_be_made_is_named(tmp_path):
    file = tmp_path / "file"
    file.touch()
    done = start("-m", "tools.launcher", SECRET_KEY="x", DATA_DIR=str(file), SFTP_PORT="0")

    assert done.stderr == f"The folder {file} (DATA_DIR) cannot be used: File exists.\n"


@pytest.mark.program
@pytest.mark.parametrize(
    ("host", "reason"), [("many", "unknown host"), ("192.0.2.1", "Cannot assign requested address")]
)
def test_a_wrong_host_of_sftp_is_named_with_the_reason(host, reason):
    said = start("manage.py", "sftp_server", SFTP_HOST=host, SFTP_PORT="2222").stderr

    assert f"SFTP cannot listen on {host}:2222 ({reason}): correct SFTP_HOST or SFTP_PORT." in said


def test_a_list_may_have_blanks_around_its_texts(monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", "exchange.example, 127.0.0.1 ,")

    assert Environment().texts("ALLOWED_HOSTS", "localhost") == ["exchange.example", "127.0.0.1"]


def test_a_base_url_may_end_with_a_slash():
    assert web_address("https://exchange.example/") == "https://exchange.example"


def test_limits_of_groups_are_read_by_name():
    assert row_limits("Order desk=500, Partner desk = 50") == {"Order desk": 500, "Partner desk": 50}
    assert row_limits("") == {}


def test_a_wrong_standby_is_not_called_database_url():
    with pytest.raises(ImproperlyConfigured, match="DATABASE_REPLICA_URLS is postgres://"):
        standby_databases("standby:5432", limited=True)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "pgsql"])
def test_each_name_of_postgresql_is_accepted(scheme):
    assert parse_url(f"{scheme}://exchange@one/exchange")["ENGINE"] == "django.db.backends.postgresql"
