"""`.venv` is made again exactly when one of its sources has changed."""

import json
import os
from pathlib import Path

import pytest

from tools.launcher import bootstrap


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A checkout with two locks, where making and installing are only recorded."""
    steps: list[str] = []

    def make_venv() -> dict[str, str]:
        steps.append("venv")
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / "python").touch()
        return {"python": bootstrap.identity()}

    def install(word: str) -> bool:
        steps.append(word or "base")
        return True

    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "PYTHON", tmp_path / "bin" / "python")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "made-from.json")
    monkeypatch.setattr(bootstrap, "make_venv", make_venv)
    monkeypatch.setattr(bootstrap, "install", install)
    (tmp_path / "requirements.txt").write_text("one")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "dev.txt").write_text("two")
    return steps


def test_a_second_run_installs_nothing(steps: list[str]) -> None:
    bootstrap.prepare([""])
    bootstrap.prepare([""])
    assert steps == ["venv", "base"]


def test_a_further_lock_is_installed_into_the_environment(steps: list[str]) -> None:
    bootstrap.prepare([""])
    bootstrap.prepare(["", "dev"])
    assert steps == ["venv", "base", "dev"]


def test_a_changed_lock_makes_it_again(steps: list[str]) -> None:
    bootstrap.prepare(["", "dev"])
    bootstrap.lock_file("").write_text("three")
    bootstrap.prepare(["", "dev"])
    assert steps == ["venv", "base", "dev"] * 2


def test_another_python_makes_it_again(steps: list[str]) -> None:
    bootstrap.prepare([""])
    bootstrap.STAMP.write_text(json.dumps({**json.loads(bootstrap.STAMP.read_text()), "python": "3.10"}))
    bootstrap.prepare([""])
    assert steps == ["venv", "base"] * 2


def test_a_linked_environment_is_used_and_never_changed(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bootstrap.prepare([""])
    link = bootstrap.ROOT / ".venv"
    link.symlink_to(bootstrap.VENV)
    monkeypatch.setattr(bootstrap, "VENV", link)
    bootstrap.prepare([""])
    with pytest.raises(SystemExit, match="links to an environment of other packages"):
        bootstrap.prepare(["", "dev"])
    bootstrap.lock_file("").write_text("three")
    with pytest.raises(SystemExit, match="Remove the link"):
        bootstrap.prepare([""])
    assert steps == ["venv", "base"]


@pytest.mark.parametrize(
    ("given", "needed"),
    [({}, ["embedded", "redis"]), ({"DATABASE_URL": "x"}, ["redis"]), ({"REDIS_URL": "x"}, ["embedded"])],
)
def test_only_missing_servers_are_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, str], needed: list[str]
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, given.get(name, ""))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.missing_servers() == needed


def test_the_program_may_store_bytecode(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.chdir(bootstrap.ROOT)
    seen: list[bool] = []
    monkeypatch.setattr("os.execv", lambda *_: seen.append("PYTHONDONTWRITEBYTECODE" in os.environ))
    bootstrap.become(["manage.py"])
    assert seen == [False]
