"""The OpenAPI schema and its page are public. The page loads nothing from other hosts."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.test import Client

from api import docs
from api.openapi import dialects


def test_the_schema_is_public_json_and_cachable():
    answer = Client().get("/v3/schema")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["openapi"].startswith("3.")
    again = Client().get("/v3/schema", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_operations_and_fields_of_dialects_name_the_canonical_form():
    """A field or an operation with several names: `x-also` of the other names holds the canonical name."""
    document = Client().get("/v3/schema").json()
    operations = {each["operationId"]: each for item in document["paths"].values() for each in item.values()}
    for name, canonical in dialects.OPERATIONS.items():
        assert (operations[name]["x-also"], operations[name]["deprecated"]) == (canonical, False)
        assert "x-also" not in operations[canonical]
    for component, fields in dialects.FIELDS.items():
        properties = document["components"]["schemas"][component]["properties"]
        for name, canonical in fields.items():
            assert (properties[name]["x-also"], properties[name]["deprecated"]) == (canonical, False)
            assert "x-also" not in properties[canonical]


def test_concurrent_first_requests_generate_the_schema_only_once(monkeypatch):
    """The generator is not thread-safe: of two threads that run it at once, one would answer 500."""
    made, another = [], Event()

    class Generator:
        def get_schema(self, **_):
            made.append(self)
            if len(made) > 1:
                another.set()
            another.wait(0.3)  # without the lock, a second thread comes here
            return {}

    monkeypatch.setattr(docs, "SchemaGenerator", Generator)
    docs.document.cache_clear()
    try:
        with ThreadPoolExecutor(2) as threads:
            answers = [threads.submit(docs.document_in_turn) for _ in range(2)]
            assert {each.result() for each in answers} == {b"{}"}
    finally:
        docs.document.cache_clear()
    assert len(made) == 1


def test_the_page_loads_only_our_own_files_under_a_strict_policy():
    answer = Client().get("/v3/docs")
    page = answer.content.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert all(url.startswith("/") and not url.startswith("//") for url in loaded)
    assert not re.search(r"<script(?![^>]*src=)|<style|style=|onload=", page)
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


@pytest.mark.django_db  # Django checks the database connection at the end of a streamed answer
@pytest.mark.parametrize("name", ["docs/docs.js", "docs/docs.css"])
def test_the_assets_of_the_page_need_no_collectstatic(name):
    answer = Client().get(f"/static/{name}")
    assert answer.status_code == 200
    answer.close()
