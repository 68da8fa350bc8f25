"""`.venv` is rebuilt if, and only if, one of its sources has changed."""

import json
import os
import sys
from pathlib import Path

import pytest

from tools.launcher import bootstrap


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make a checkout with two lock files. Return the list that records the steps, which do nothing else."""
    steps: list[str] = []

    def make_venv() -> dict[str, str]:
        steps.append("venv")
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / "python").touch()
        return {"python": bootstrap.identity()}

    def install(words: list[str]) -> list[str]:
        steps.extend(word or "base" for word in words)
        return words

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


def test_a_changed_lock_rebuilds_the_environment(steps: list[str]) -> None:
    bootstrap.prepare(["", "dev"])
    bootstrap.lock_file("").write_text("three")
    bootstrap.prepare(["", "dev"])
    assert steps == ["venv", "base", "dev"] * 2


def test_a_rebuilt_environment_keeps_the_packages_of_other_commands(steps: list[str]) -> None:
    bootstrap.prepare(["", "dev"])
    bootstrap.lock_file("").write_text("three")
    bootstrap.prepare([""])
    assert steps == ["venv", "base", "dev"] * 2


def test_another_python_rebuilds_the_environment(steps: list[str]) -> None:
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


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a fake pip and a fake uv, which only write their arguments to a file."""
    (tmp_path / "requirements").mkdir()
    for word in ("", "docs", "redis", "uv"):
        monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
        bootstrap.lock_file(word).write_text(word)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "UV", tmp_path / "uv")
    (tmp_path / "uv.sh").write_text(
        f"""#!/bin/sh
        echo "uv $*" >> {tmp_path}/noted; [ ! -e {tmp_path}/bad-uv ]"""
    )
    pip = tmp_path / "pip"
    pip.write_text(
        f"""#!/bin/sh
        echo "pip $*" >> {tmp_path}/noted
        case "$*" in *requirements/uv.txt)
            [ -e {tmp_path}/no-uv ] && exit 1
            mkdir -p {tmp_path}/uv/bin
            cp {tmp_path}/uv.sh {tmp_path}/uv/bin/uv
            chmod +x {tmp_path}/uv/bin/uv
        esac"""
    )
    pip.chmod(0o700)
    monkeypatch.setattr(bootstrap, "pip_command", lambda: [str(pip)])
    monkeypatch.setattr(bootstrap, "uv_settings", dict)
    return tmp_path


def noted(tools: Path, program: str) -> list[str]:
    """Return the calls of a program. Sort them, because uv installs several folders at the same time."""
    return sorted(line for line in (tools / "noted").read_text().splitlines() if line.startswith(program))


def test_uv_installs_all_locks_at_once_and_checks_their_hashes(tools: Path) -> None:
    assert bootstrap.install(["", "docs", "redis"]) == ["", "docs", "redis"]
    [for_redis, together] = sorted(noted(tools, "uv"), key=lambda line: "requirements.txt" in line)
    assert together.endswith(f"-r {tools}/requirements.txt -r {tools}/requirements/docs.txt")
    assert f"--target {bootstrap.OPTIONS['redis'][-1]}" in for_redis
    assert all("--require-hashes --no-deps" in line for line in (tools / "noted").read_text().splitlines())
    assert not (tools / "uv-cache").exists()


def test_uv_is_installed_once_until_its_lock_changes(tools: Path) -> None:
    bootstrap.install([""])
    bootstrap.install(["docs"])
    assert len(noted(tools, "pip")) == 1
    bootstrap.lock_file("uv").write_text("newer")
    bootstrap.install([""])
    assert len(noted(tools, "pip")) == 2


@pytest.mark.parametrize("trouble", ["no-uv", "bad-uv"])
def test_pip_installs_everything_if_uv_cannot(tools: Path, trouble: str) -> None:
    (tools / trouble).touch()
    assert bootstrap.install(["", "redis"]) == ["", "redis"]
    by_pip = [line for line in noted(tools, "pip") if not line.endswith("uv.txt")]
    assert len(by_pip) == 2
    assert all("--require-hashes --no-deps" in line for line in by_pip)


def test_uv_uses_the_registries_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://one.example https://two.example")
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    # The environment of the tests may have no pip, so use the base Python, as `make` does.
    monkeypatch.setattr(sys, "executable", str(Path(sys.base_prefix, "bin", "python3")))
    settings = bootstrap.uv_settings()
    assert settings["UV_DEFAULT_INDEX"] == "https://packages.example/simple"
    assert settings["UV_INDEX"] == "https://one.example https://two.example"
    assert settings["UV_FIND_LINKS"] == "/one,/two"
    assert settings["UV_INDEX_STRATEGY"] == "unsafe-best-match"
