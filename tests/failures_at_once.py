"""A pytest plugin that prints the name of each failed test at once.

If all chosen tests are slow and were left out, the plugin prints the make target that runs them.
`addopts` in pyproject.toml loads the plugin.
"""

from __future__ import annotations

import os
from typing import Any

import pytest


class FailuresAtOnce:
    """Hooks that write to the terminal. They run in the main process, which gets the workers' reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            terminal: Any = self._config.pluginmanager.get_plugin("terminalreporter")
            terminal.ensure_newline()
            terminal.write_line(f"{'FAILED' if report.when == 'call' else 'ERROR'} {report.nodeid}", red=True)

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        chosen: str = self._config.getoption("markexpr")
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and chosen.startswith("not ("):
            terminalreporter.write_line('All these tests are slow: run them with `make edges ARGS="…"`.')


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(config))
