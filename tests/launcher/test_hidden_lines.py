"""Lines of output that would alarm a reader without a reason are not shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from tests.launcher.waiting import eventually
from tools.launcher.embedded.redis_server import HIDDEN
from tools.launcher.managed_process import ManagedProcess
from tools.launcher.processes.program import Program

LINES = "Server initialized\n# WARNING Memory overcommit must be enabled! Without it, a save may fail.\nReady"


def shown_lines(folder: Path, **settings: Any) -> list[str]:
    shown: list[str] = []
    program = Program("redis", (sys.executable, "-c", f"print({LINES!r})"), folder=folder, **settings)
    process = ManagedProcess(program, Mock(), shown.append)
    process.start()
    eventually(process.has_ended, "the program has ended")
    return shown


def test_a_hidden_line_of_a_program_is_not_shown(tmp_path):
    assert shown_lines(tmp_path, hidden=HIDDEN) == ["Server initialized", "Ready"]
    assert len(shown_lines(tmp_path)) == 3
