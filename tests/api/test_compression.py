"""Answers of the API over 1 KB are compressed for clients that accept it."""

from __future__ import annotations

import gzip
import json
import re
import zlib

import pytest
from django.test import Client

from tests.factories import VariantFactory

LONG = "Brass, with a wick. " * 200


@pytest.fixture
def client(acme, client_for, a_variant):
    a_variant(acme, "A-1", description=LONG)
    return client_for(acme)


def test_a_long_answer_is_compressed_if_the_client_accepts_it(client):
    plain = client.get("variants")
    packed = client.get("variants", Accept_Encoding="gzip, deflate, br")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 3
    assert "Content-Encoding" not in plain.headers
    for answer in (plain, packed):
        assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("header", ["", "identity", "br", "gzip;q=0", "*;q=0", "gzip;q=0, *"])
def test_an_answer_is_not_compressed_unless_requested(client, header):
    assert "Content-Encoding" not in client.get("variants", Accept_Encoding=header).headers


@pytest.mark.parametrize("header", ["gzip", "GZIP;q=0.5", "*", "br, gzip"])
def test_an_answer_is_compressed_on_request(client, header):
    assert client.get("variants", Accept_Encoding=header).headers["Content-Encoding"] == "gzip"


def test_a_short_answer_is_not_compressed(client):
    answer = client.get("warehouses", Accept_Encoding="gzip")
    assert (len(answer.content) < 1024, "Content-Encoding" in answer.headers) == (True, False)


def test_a_streamed_pull_is_compressed_chunk_by_chunk(acme, shop, client_for):
    VariantFactory.create_batch(1500, supplier=acme, description=LONG)
    client = client_for(shop)
    ask = {"service_type": "ecommerce"}

    plain = b"".join(client.get("variants", ask).streaming_content)
    answer = client.get("variants", ask, Accept_Encoding="gzip")

    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["ETag"].startswith("W/")
    parts = list(answer.streaming_content)
    assert len(parts) > 2
    assert zlib.decompress(b"".join(parts), 16 + zlib.MAX_WBITS) == plain
    assert len(json.loads(plain)) == 1500


def test_the_compressed_schema_has_a_tag_that_answers_304():
    packed = Client().get("/v3/schema", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["ETag"].startswith('W/"')
    again = Client().get("/v3/schema", headers={"If-None-Match": packed.headers["ETag"]})
    assert again.status_code == 304


def test_a_page_is_compressed_with_a_size_that_varies(admin_client):
    plain = admin_client.get("/admin/desk/")
    packed = [admin_client.get("/admin/desk/", headers={"Accept-Encoding": "gzip"}) for _ in range(8)]

    assert "Content-Encoding" not in plain.headers
    assert {page.headers["Content-Encoding"] for page in packed} == {"gzip"}
    assert "<h1>Desk" in gzip.decompress(packed[0].content).decode()
    assert len(packed[0].content) < len(plain.content) / 2
    assert len({len(page.content) for page in packed}) > 2, "random bytes must hide the exact size"
    assert "Accept-Encoding" in packed[0].headers["Vary"]


def test_a_page_with_a_lasting_secret_is_not_compressed(admin_client):
    page = admin_client.get("/admin/second-factor/", headers={"Accept-Encoding": "gzip"})
    assert page.status_code == 200
    assert "Content-Encoding" not in page.headers


def test_the_token_of_a_form_is_masked_in_each_answer(admin_client):
    def tokens():
        return re.findall(r'csrfmiddlewaretoken" value="(\w+)"', admin_client.get("/admin/").text)

    assert tokens()
    assert set(tokens()) & set(tokens()) == set()
