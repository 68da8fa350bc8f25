"""The commands of the API guide and the guides by task work when pasted, and get the shown answers."""

from __future__ import annotations

import json
import shutil

import pytest

from imports.pipeline.job_runner import run_job
from tests.pasting import commands, paste, wrong_answers
from tools.demo import cast, credentials

# The guide for receivers of webhooks is not in this list, because it needs a process that sends webhooks.
# tests/contract/outsider tests it with a running service.
PAGES = (
    "docs/guides/quick-start.md",
    "docs/api-guide.md",
    "docs/guides/suppliers.md",
    "docs/guides/retailers.md",
)

pytestmark = [
    pytest.mark.program,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here"),
]


@pytest.fixture
def demo(live_server, settings, tmp_path, monkeypatch):
    """Create the demo's parties on a live server, as `make run` does. Imports run in this process."""
    settings.DATA_DIR = settings.SECRETS_DIR = tmp_path
    settings.BASE_URL = live_server.url
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    monkeypatch.setattr("imports.wake.wake", run_job)
    cast.create()
    return credentials.write()


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work_when_pasted_and_get_its_answers(demo, tmp_path, page):
    done = paste(commands(page), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"success":false' not in done.stdout.replace(" ", "")
    assert wrong_answers(page, done.stdout) == []


def test_the_variables_have_the_values_of_the_demo(demo, tmp_path):
    shown = paste(
        'eval "$(python3 tools/demo/shell_variables.py)"; echo "$SHOP $SHOP_KEY $ACME_WAREHOUSE"', tmp_path
    )
    shop = demo["retailers"][0]
    warehouse = demo["suppliers"][0]["warehouses"][0]["id"]
    assert shown.stdout.split() == [
        f"{demo['base_url']}/v3/retailers/{shop['id']}",
        shop["api_key"],
        str(warehouse),
    ]


def test_value_picks_from_an_answer(demo, tmp_path):
    answer = json.dumps({"results": [{"id": 7}, {"id": 9}]})
    done = paste(
        f"eval \"$(python3 tools/demo/shell_variables.py)\"; echo '{answer}' | value results.-1.id", tmp_path
    )
    assert done.stdout.strip() == "9"


def test_value_selects_elements_by_a_field(demo, tmp_path):
    answer = json.dumps([{"order_id": 7, "id": 1}, {"order_id": 9, "id": 2}])
    done = paste(
        "eval \"$(python3 tools/demo/shell_variables.py)\"; for step in order_id=9.id '*.id'; do"
        f" echo '{answer}' | value \"$step\"; done",
        tmp_path,
    )
    assert done.stdout.split() == ["2", "1", "2"]


def test_without_a_demo_the_variables_name_the_remedy(tmp_path):
    done = paste("python3 tools/demo/shell_variables.py", tmp_path)
    assert done.returncode == 1
    assert "make run" in done.stderr
