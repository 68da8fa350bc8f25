"""The container image: its build steps work, and its commands serve, back up and restore a database."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.architecture.sources import ROOT
from tests.deploy.image import CONTAINERFILE, IgnoreRules, Image, clone, instructions
from tests.faults import clusters
from tests.faults.clusters import Cluster
from tools.bench.soak.commands import STEPS, compose
from tools.launcher.embedded.ports import free_port
from tools.launcher.embedded.servers import temporary_servers

PATIENCE = 120.0
SECRETS = (
    ".env",
    "production.env",
    "config/.env",
    "deploy/.env",
    "deploy/secrets/sftp_host_key",
    "secrets/anything",
    "config/secrets/password",
    "api/server.key",
    "config/tls.pem",
    "var/secret_key",
    "backups/2026-11-23T120000Z/database.dump",
    "database.dump",
)
"""Files that people put into a clone."""


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_gets_neither_into_the_image_nor_into_git(name):
    done = subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert not IgnoreRules((ROOT / ".containerignore").read_text()).take(name)


def test_both_ignore_files_list_the_allowed_paths():
    text = (ROOT / ".containerignore").read_text()
    assert (ROOT / ".dockerignore").read_text() == text
    assert [line for line in text.splitlines() if not line.startswith("#")][0] == "*"
    rules = IgnoreRules(text)
    assert rules.take("accounts/models/__init__.py")
    assert not any(map(rules.take, ("tests/conftest.py", "notes.txt", ".git/config", "accounts/.env")))


def test_each_package_of_the_service_gets_into_the_image():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    rooms = set(project["tool"]["importlinter"]["root_packages"]) - {"tests", "tools"}
    rules = IgnoreRules((ROOT / ".containerignore").read_text())
    assert {room for room in rooms if not rules.take(f"{room}/__init__.py")} == set()


def test_the_image_has_the_client_of_the_servers_version():
    (client,) = re.findall(r"postgresql-client-(\d+)", CONTAINERFILE.read_text())
    (server,) = re.findall(r"postgres:(\d+)", compose()["services"]["postgres"]["image"])
    assert client == server


def test_each_image_can_be_set_by_a_variable():
    services = compose()["services"].values()
    names = {each["image"] for each in services}
    assert all(re.fullmatch(r"\$\{[A-Z]+_IMAGE:-[\w./:@-]+\}", name) for name in names), names
    (base,) = (text for name, text in instructions(CONTAINERFILE.read_text()) if name == "ARG")
    (given,) = {each["build"]["args"]["PYTHON_IMAGE"] for each in services if "build" in each}
    assert given == f"${{{base.replace('=', ':-')}}}"


def test_each_part_has_a_health_check_and_is_restarted():
    for name, service in compose()["services"].items():
        if name not in STEPS:
            assert service["restart"] == "unless-stopped"
            assert service["healthcheck"]["test"]


class Machine:
    """The containers of compose.yaml, run as processes with a PostgreSQL and a Redis of the tests."""

    def __init__(self, image: Image, cluster: Cluster, redis: str) -> None:
        self.image, self.programs = image, cluster.bin
        self.url, self.redis, self.port = cluster.url, redis, free_port()
        self._running: list[subprocess.Popen[bytes]] = []

    def environment(self, name: str) -> dict[str, str]:
        known = {"EXCHANGE_HOST": "exchange.example"}
        written = compose()["services"][name]["environment"]
        filled = {
            key: re.sub(r"\$\{(\w+)[^}]*\}", lambda found: known.get(found[1], ""), value)
            for key, value in written.items()
        }
        servers = {"DATABASE_URL": self.url, "REDIS_URL": self.redis, "PORT": str(self.port)}
        return {**filled, **servers, "SFTP_PORT": str(free_port())}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        command = compose()["services"][name]["command"]
        self._running.append(self.image.start(name, command, self.environment(name), self.programs))
        return self._running[-1]

    def run(self, name: str, *command: str) -> None:
        """Run a command of a service to its end, as `compose run` does."""
        words = list(command) or compose()["services"][name]["command"]
        process = self.image.start(name, words, self.environment(name), self.programs)
        assert process.wait(PATIENCE) == 0, words

    def is_healthy(self, name: str) -> bool:
        """Run a service's health check."""
        form, *command = compose()["services"][name]["healthcheck"]["test"]
        assert form == "CMD"
        words = [word.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}") for word in command]
        own = self.image.of_container(name, self.environment(name), self.programs)
        return not subprocess.run(
            words, cwd=self.image.workdir, env=own, check=False, capture_output=True
        ).returncode

    def stop(self) -> None:
        for process in self._running:
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            process.wait(30)
        self._running.clear()

    def ask(self, method: str, path: str, key: str = "", body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, json.dumps(body), {**headers, "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)


def wait_until(reached: Callable[[], Any], goal: str) -> Any:
    """Poll until the function returns a true result, and return the result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError):
            if found := reached():
                return found
        time.sleep(0.1)
    raise AssertionError(f"not reached within {PATIENCE:.0f} s: {goal}")


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    context = clone(folder / "context")
    for name in SECRETS:
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        (context / name).write_text("a secret")
    image = Image(folder / "root")
    image.build(context)
    return image


@pytest.fixture
def machine(image) -> Iterator[Machine]:
    only_redis = temporary_servers({"DATABASE_URL": "there is one"})
    with clusters.running() as cluster, only_redis as urls:
        machine = Machine(image, cluster, urls["REDIS_URL"])
        try:
            yield machine
        finally:
            machine.stop()


def content(url: str) -> dict[str, str]:
    """Return a digest of the rows of each table. Omit the tables that change with the epoch at a restore."""
    of_epochs = {"events_epoch", "catalog_pulse", "orders_retailerclock"}
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        return {
            name: str(
                connection.execute(
                    f"SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM \"{name}\" t"
                ).fetchone()
            )
            for (name,) in tables
            if name not in of_epochs
        }


@pytest.mark.fault
@pytest.mark.program
def test_the_image_serves_imports_backs_up_and_restores(image, machine):
    assert image.user == "exchange"
    copied = {path.name for path in image.workdir.rglob("*")}
    assert not copied & {Path(name).name for name in SECRETS} - {"anything", "password"}
    assert not copied & {"secrets", "backups", "tests", ".git"}

    secrets = Path(image.below("/secrets"))
    machine.run("secrets")
    made = {path.name: path.read_bytes() for path in secrets.iterdir()}
    machine.run("secrets")
    assert {path.name: path.read_bytes() for path in secrets.iterdir()} == made
    assert made.keys() >= {"secret_key", "sftp_host_key", "postgres_password", "pgpass"}
    assert made["pgpass"].strip().endswith(made["postgres_password"])
    machine.run("migrate")
    machine.run("operator")
    machine.run("migrate", "python", "manage.py", "demo_data", "--write-demo-json")
    supplier = json.loads((image.workdir / "var/demo.json").read_text())["suppliers"][0]
    for name in ("web", "worker"):
        machine.start(name)
    wait_until(lambda: machine.ask("GET", "/readyz")[0] == 200, "web is ready")
    path, key = f"/v3/suppliers/{supplier['id']}", supplier["api_key"]
    status, job = machine.ask(
        "POST", f"{path}/importProducts", key, {"data": ["sku,title,retail_price", "KEPT-1,Kept,9.50"]}
    )
    assert status in (200, 201, 202), job
    done = wait_until(lambda: finished(machine, f"{path}/imports/{job['id']}", key), "the worker imports")
    assert done["status"] == "succeeded"
    wait_until(lambda: machine.is_healthy("web") and machine.is_healthy("worker"), "the parts are healthy")

    machine.start("backup")
    backups = Path(image.below("/backups"))
    backup = wait_until(lambda: next(backups.glob("*Z/backup.json"), None), "a backup is made").parent
    wait_until(lambda: machine.is_healthy("backup"), "the backups are healthy")
    machine.stop()
    assert not machine.is_healthy("web")
    before, uploads = content(machine.url), Path(image.below("/uploads"))
    kept = {path.name for path in uploads.rglob("*") if path.is_file()}
    assert kept
    for path_of_upload in uploads.iterdir():
        subprocess.run(["rm", "-r", str(path_of_upload)], check=True)

    machine.url = empty_database(machine.url)
    machine.run("restore", "python", "manage.py", "restore", f"/backups/{backup.name}")
    after = content(machine.url)
    assert [name for name in before if before[name] != after[name]] == []
    assert {path.name for path in uploads.rglob("*") if path.is_file()} == kept
    machine.start("web")
    wait_until(lambda: machine.ask("GET", "/readyz")[0] == 200, "web is ready again")
    assert machine.ask("GET", f"{path}/imports/{job['id']}", key)[1]["rows_total"] == 1


def finished(machine: Machine, path: str, key: str) -> Mapping[str, Any] | None:
    job = machine.ask("GET", path, key)[1]
    return job if job["finished_at"] else None


def empty_database(url: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    return f"{url.rpartition('/')[0]}/restored"
