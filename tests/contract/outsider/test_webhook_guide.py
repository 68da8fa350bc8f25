"""The commands of docs/guides/webhooks.md work with the running service."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.pasting import commands, paste, wrong_answers

from .test_webhooks import pytestmark as needs_this_network

pytestmark = [
    needs_this_network,
    pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here"),
]


def test_the_guides_commands_build_a_receiver_that_gets_an_order():
    guide = "docs/guides/webhooks.md"
    done = paste(commands(guide), Path(os.environ["DEMO_JSON"]).resolve().parent)

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"success":false' not in done.stdout.replace(" ", "")
    assert wrong_answers(guide, done.stdout) == []
