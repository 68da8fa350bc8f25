"""The first start of several processes: they share one secret key, and a wrong port is named."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from config import build, env_defaults
from config.ports import port_number


def test_processes_that_start_at_once_read_the_same_whole_key(tmp_path, monkeypatch):
    """Let all writers meet between the creation and the content of their file."""
    meeting, original = Barrier(4), os.fdopen

    def meet(*args, **kwargs):
        meeting.wait(timeout=30)
        return original(*args, **kwargs)

    monkeypatch.setattr("config.env_defaults.os.fdopen", meet)
    with ThreadPoolExecutor(4) as pool:
        keys = {*pool.map(env_defaults.secret_key, [tmp_path] * 4)}

    assert keys == {(tmp_path / "secret_key").read_text()}
    assert len(keys.pop()) > 50
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_key_file_is_never_seen_before_its_content(tmp_path, monkeypatch):
    original = os.fdopen

    def look(*args, **kwargs):
        assert not (tmp_path / "secret_key").exists()
        return original(*args, **kwargs)

    monkeypatch.setattr("config.env_defaults.os.fdopen", look)

    assert env_defaults.secret_key(tmp_path)


@pytest.mark.parametrize("variable", ["PORT", "SFTP_PORT"])
@pytest.mark.parametrize("value", ["abc", "70000", "0", "-1", "", "٣"])
def test_a_wrong_port_is_named_in_one_sentence(variable, value, capsys):
    with pytest.raises(SystemExit) as ended:
        port_number(variable, value)

    assert ended.value.code == 2
    expected = f"{variable} is {value!r}: set it to a port number from 1 to 65535.\n"
    assert capsys.readouterr().err == expected


def test_port_0_of_sftp_means_any_free_port():
    assert port_number("SFTP_PORT", "0", least=0) == 0


@pytest.mark.program
def test_a_wrong_port_ends_make_run_without_a_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tools.launcher"],
        env={**os.environ, "PORT": "70000", "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Make a folder the root of the code, with a branch in `.git/HEAD`. Return its `.git`."""
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setattr(build, "_ROOT", tmp_path)
    build.commit.cache_clear()
    yield tmp_path / ".git"
    build.commit.cache_clear()


PACKED = f"""\
# pack-refs with: peeled fully-peeled sorted
{"a" * 40} refs/heads/domain
{"b" * 40} refs/heads/main
{"c" * 40} refs/tags/main
^{"d" * 40}
"""


def test_the_commit_of_a_packed_branch_is_found(checkout):
    (checkout / "packed-refs").write_text(PACKED)

    assert build.commit() == "b" * 12


def test_the_branchs_own_file_is_newer_than_the_packed_one(checkout):
    (checkout / "packed-refs").write_text(PACKED)
    (checkout / "refs/heads/main").write_text("e" * 40 + "\n")

    assert build.commit() == "e" * 12
