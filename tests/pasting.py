"""The commands of a page, as a reader pastes them into a shell."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def commands(page: str) -> str:
    """The page's shell blocks, one after the other, after the demo's variables."""
    text = (ROOT / page).read_text(encoding="utf-8")
    script = "\n".join(re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL))
    return script if "eval" in script else f'eval "$(python3 tools/demo/shell_variables.py)"\n{script}'


def paste(script: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    """Run the commands; `folder` has the service's demo.json."""
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir), "NO_PROXY": "*"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
