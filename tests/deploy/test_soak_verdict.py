"""The report of `make soak` shows the cause of each answer 500, because the logs of a run are deleted."""

from __future__ import annotations

from pathlib import Path

from tools.bench.soak.verdict import unexpected

LOG = """\
2026-01-31 12:00:00.000 ERROR exchange: the database did not answer
Traceback (most recent call last):
OperationalError: the server is starting
2026-01-31 12:00:01.000 WARNING exchange: slow
2026-01-31 12:00:02.000 ERROR exchange: unforeseen error
Traceback (most recent call last):
  File "orders/pushing.py", line 1
KeyError: 'lines'
2026-01-31 12:00:03.000 WARNING exchange: slow
"""


def test_an_answer_500_is_reported_with_its_traceback(tmp_path: Path):
    log = tmp_path / "web.log"
    log.write_text(LOG)

    [fault] = unexpected({"200": 7, "500": 1}, [log])

    assert fault.startswith("1 requests were answered with 500\n\n2026-01-31 12:00:02")
    assert fault.endswith("KeyError: 'lines'")
    assert [*unexpected({"200": 7, "503": 2}, [log])] == []
