"""The examples of deploy/ run the programs of `make run`, and other programs accept them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT
from tests.deploy.proxies import needs
from tools.bench.soak.commands import DEPLOY, PARTS, PYTHON, STEPS, UNITS, compose, of_compose, of_unit
from tools.launcher import programs

pytestmark = pytest.mark.program

ADDRESSES = {
    "EXCHANGE_BIND": "127.0.0.1:8080",
    "EXCHANGE_HOST": "exchange.example",
    "EXCHANGE_ONE": "127.0.0.1:8001",
    "EXCHANGE_TWO": "127.0.0.1:8002",
}
SETTING = re.compile(r"^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)?", re.MULTILINE)


def read(*command: str, **environment: str) -> str:
    """Run a program that checks a file, and return its output. Fail if the program refuses the file."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs_by_the_same_command_everywhere(part):
    (ours,) = (each for each in programs.separate_parts({}) if each.name == part)
    expected = list(ours.command[1:])

    assert of_compose(part) == expected
    assert of_unit(part) == expected


def test_no_part_is_left_out():
    services = set(compose()["services"])
    units = {path.stem.removeprefix("exchange-") for path in UNITS}

    assert {each.name for each in programs.separate_parts({})} == set(PARTS)
    assert services == {*PARTS, "backup", "postgres", "redis", "proxy", *STEPS}
    assert units == {*PARTS, "backup", "migrate"}
    assert of_unit("backup") == of_compose("backup")
    target = (DEPLOY / "systemd/exchange.target").read_text()
    assert set(re.findall(r"exchange-(\w+)\.service", target)) == {*PARTS, "backup"}


def test_a_restore_may_write_the_keys_and_starts_neither_by_itself_nor_after_the_migration():
    restore = compose()["services"]["restore"]

    assert {"uploads:/uploads", "secrets:/secrets"} < set(restore["volumes"])
    assert restore["profiles"] == ["restore"]
    assert set(restore["depends_on"]) == {"postgres", "redis"}


def test_systemd_understands_the_units(tmp_path):
    verify = needs("systemd-analyze")
    units, clone, python = tmp_path / "units", tmp_path / "clone", tmp_path / "python"
    units.mkdir()
    # Use a link, because the checkout's path may have a blank, which files of systemd must escape.
    clone.symlink_to(ROOT)
    python.symlink_to(sys.executable)
    for path in [*UNITS, DEPLOY / "systemd/exchange.target"]:
        # Use this machine's interpreter, and no account `exchange`, which this machine does not have.
        text = path.read_text().replace(PYTHON, str(python)).replace("User=exchange\n", "")
        text = text.replace("file:///opt/exchange", f"file://{clone}")
        (units / path.name).write_text(text)

    said = read(verify, "verify", *map(str, units.iterdir()), SYSTEMD_UNIT_PATH=f"{units}:")

    assert "exchange" not in said, said


def test_haproxy_understands_its_configuration():
    assert "WARNING" not in read(needs("haproxy"), "-c", "-f", str(DEPLOY / "haproxy.cfg"), **ADDRESSES)


def test_nginx_understands_its_configuration(tmp_path):
    read(needs("nginx"), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(DEPLOY / "nginx.conf"),
         "-g", f"pid {tmp_path}/pid;")  # fmt: skip


def test_caddy_understands_its_configuration():
    command = (needs("caddy"), "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile"))
    assert "Valid configuration" in read(*command, HOME="/nonexistent")


def test_the_examples_set_only_known_settings():
    known = {
        name for pair in SETTING.findall((ROOT / "docs/running.md").read_text()) for name in pair if name
    }
    lines = (DEPLOY / "environment.example").read_text().splitlines()
    example = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    container = set(re.findall(r"([A-Z_]{4,})=", (DEPLOY / "Containerfile").read_text()))
    shared = set(compose()["x-exchange"]["environment"])
    not_ours = {
        "PROMETHEUS_MULTIPROC_DIR",
        "PYTHONPATH",
        "PYTHONUNBUFFERED",
        "PYTHON_IMAGE",
        "SIGN_FILE",
        "PGPASSFILE",
    }

    assert (example | container | shared) - not_ours - known == set()


def test_the_files_that_the_image_copies_exist():
    text = (DEPLOY / "Containerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE) for word in line.split()]

    assert copied
    assert all((ROOT / path).exists() for path in copied)


def test_the_proxy_gets_the_variables_that_its_configuration_needs():
    asked = dict(re.findall(r"\{\$(\w+):([^}]+)\}", (DEPLOY / "Caddyfile").read_text()))

    assert asked == {"EXCHANGE_HOST": "localhost", "EXCHANGE_WEB": "web:8000"}
    assert set(compose()["services"]["proxy"]["environment"]) == {"EXCHANGE_HOST"}


def test_compose_starts_without_any_setting():
    text = (DEPLOY / "compose.yaml").read_text()
    assert re.findall(r"\$\{\w+(?!:-)[^}]*\}", re.sub(r"\$\{\w+:-", "", text)) == []
    for step in STEPS:
        assert compose()["services"][step]["restart"] == "no"
