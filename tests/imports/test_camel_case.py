"""Fields of import requests in camelCase."""

from __future__ import annotations

import pytest


@pytest.fixture
def started(acme, client_for, upload):
    """Return a function that starts an import of products with this body, and returns the answer."""
    for name in ("a", "b"):
        upload(acme, "sku,title,retail_price\nA-1,Shirt,1\n", f"products/{name}.csv")
    return lambda body: client_for(acme).post("importProducts", body)


@pytest.mark.parametrize("empty", [None, ""])
@pytest.mark.parametrize(("given", "other"), [("file_url", "fileUrl"), ("fileUrl", "file_url")])
def test_an_empty_spelling_of_a_field_counts_as_not_given(started, empty, given, other):
    answer = started({other: empty, given: "products/b.csv"})

    assert (answer.status_code, answer.json().get("source")) == (201, "products/b.csv"), answer.json()


def test_two_spellings_of_a_field_must_agree(started):
    answer = started({"file_url": "products/a.csv", "fileUrl": "products/b.csv"})

    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"field": "fileUrl", "code": "invalid", "message": "Means the same as file_url, but differs from it."}
    ]
    assert started({"file_url": "products/a.csv", "fileUrl": "products/a.csv"}).status_code == 201


def test_two_spellings_of_an_unknown_field_are_ignored(started):
    assert started({"file_url": "products/a.csv", "zip_zap": 1, "zipZap": 2}).status_code == 201
