"""Clients that common generators make from the OpenAPI document, each in its own folder.

The tests need a running service, as `tests.contract.outsider` does, and the packages that `make clients`
installs (requirements/clients.txt, which includes node). A test without its program is skipped with a reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contract.outsider.conftest import demo

__all__ = ["demo"]

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios"


@pytest.fixture(autouse=True)
def _reset_rate_limits() -> None:
    """Do nothing: replace the project's fixture, because these tests cannot reach the service's cache."""


@dataclass(frozen=True)
class Workshop:
    """A folder for the generated clients, which also has the OpenAPI document."""

    folder: Path
    document: Path
    environment: dict[str, str]

    def run(self, *command: str | Path, cwd: Path | None = None, **environment: str) -> str:
        """Run a program and return its output. A failure raises AssertionError with the end of the output."""
        done = subprocess.run(
            [str(each) for each in command],
            cwd=cwd or self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}"
        return done.stdout

    def play(self, *command: str | Path, **environment: str) -> None:
        """Run a scenario: a program that uses a client. The last printed word must be `shipped`."""
        assert self.run(*command, cwd=None, **environment).split()[-1] == "shipped"


@pytest.fixture(scope="session")
def workshop(demo: Any, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("clients")
    document = folder / "openapi.json"
    request = urllib.request.Request(f"{demo['base_url']}/v3/schema", headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        document.write_bytes(answer.read())
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    scenario = os.environ.get("DEMO_JSON") or "var/demo.json"
    return Workshop(
        folder,
        document,
        {**os.environ, "PATH": programs, "DEMO_JSON": str(Path(scenario).resolve()), "NO_COLOR": "1"},
    )
