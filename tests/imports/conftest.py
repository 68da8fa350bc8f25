"""Fixtures for imports: files in a temporary folder, and jobs that run in the process of the tests."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Supplier
from imports.fetching import fetch_file
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tests.client import ApiClient
from tests.upload_area import area_of


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the jobs for which a worker was woken. No worker runs: these tests run their jobs themselves."""
    jobs: list[int] = []
    monkeypatch.setattr("imports.wake.wake", jobs.append)
    monkeypatch.setattr("imports.wake.wake_fetcher", lambda job_id: None)
    return jobs


@pytest.fixture
def upload() -> Callable[..., str]:
    """Return a function that puts a file into a supplier's area, and returns its path for the import."""

    def put(supplier: Supplier, content: str | bytes, path: str = "products/file.csv") -> str:
        target = area_of(supplier) / path
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


@pytest.fixture
def ran(client_for: Callable[..., ApiClient]) -> Callable[..., dict[str, Any]]:
    """Return a function that starts an import over the API, runs it, and returns the finished job."""

    def go(supplier: Supplier, kind: str = "importProducts", **body: Any) -> dict[str, Any]:
        client = client_for(supplier)
        answer = client.post(kind, body)
        assert answer.status_code == (201 if kind == "importProducts" else 200), answer.json()
        fetch_file(answer.json()["id"])
        run_job(answer.json()["id"])
        job: dict[str, Any] = client.get(f"imports/{answer.json()['id']}").json()
        return job

    return go


@pytest.fixture
def stocked(upload: Callable[..., str], ran: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Return a function that imports a stock file into a supplier's default warehouse."""

    def go(supplier: Supplier, content: str | bytes, **body: Any) -> dict[str, Any]:
        path = upload(supplier, content, "inventory/stock.csv")
        if "warehouse_field" not in body:
            default = Warehouse.objects.get(supplier=supplier, is_default=True)
            body = {"warehouse_id": default.pk, **body}
        return ran(supplier, "importInventory", url=path, **body)

    return go


@pytest.fixture
def job_of() -> Callable[[dict[str, Any]], ImportJob]:
    return lambda shown: ImportJob.objects.get(pk=shown["id"])


@pytest.fixture
def errors_csv(client_for: Callable[..., ApiClient]) -> Callable[..., tuple[str, list[list[str]]]]:
    """Return a function that reads the error report of a job.

    It returns the text, and the rows without the header and our own columns.
    """

    def read(supplier: Supplier, job: dict[str, Any]) -> tuple[str, list[list[str]]]:
        answer = client_for(supplier).get(f"imports/{job['id']}/errors")
        text = b"".join(answer.streaming_content).decode()
        delimiter = ";" if text.startswith("line;") else ","
        return text, [row[4:] for row in csv.reader(io.StringIO(text), delimiter=delimiter)][1:]

    return read
