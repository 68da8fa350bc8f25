"""The commands of the parts, read from the compose file and from the systemd units in deploy/."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
PYTHON = "/opt/exchange/.venv/bin/python"
STEPS = ("secrets", "migrate", "operator", "restore")
"""The services of the compose file that run a command to its end: at each start, or for a restore."""
PARTS = ("web", "worker", "fetcher", "ticker", "beat", "webhooks", "sftp")


def compose(root: Path = ROOT) -> dict[str, Any]:
    """Return the compose file of the code in `root`."""
    read: dict[str, Any] = yaml.safe_load((root / "deploy/compose.yaml").read_text())
    return read


def of_compose(part: str, root: Path = ROOT) -> list[str]:
    """Return the command of a service, without the interpreter."""
    command: list[str] = compose(root)["services"][part]["command"]
    python, *arguments = command
    assert python == "python"
    return arguments


def of_unit(part: str, root: Path = ROOT) -> list[str]:
    """Return the command of a part's systemd unit, without the interpreter."""
    lines = (root / f"deploy/systemd/exchange-{part}.service").read_text().splitlines()
    (line,) = (line.partition("=")[2] for line in lines if line.startswith("ExecStart="))
    python, *arguments = shlex.split(line.replace("%%", "%"))
    assert python == PYTHON
    return arguments


def parts_of(root: Path) -> tuple[str, ...]:
    """Return the parts with a systemd unit in the code in `root`. An older version may have fewer parts."""
    return tuple(part for part in PARTS if (root / f"deploy/systemd/exchange-{part}.service").exists())
