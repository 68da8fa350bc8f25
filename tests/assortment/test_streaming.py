"""The pull in constant memory: chunk by chunk, each a few statements."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assortment import pull as pulling
from assortment import queries


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(pulling.Pull.read, "__defaults__", (pulling.START, 3))


@pytest.fixture
def answer(shop, acme, client_for, a_variant, small_chunks):
    for number in range(8):
        a_variant(acme, f"A-{number}", stock=number)
    return client_for(shop).get("variants", {"service_type": "ecommerce"})


def test_the_answer_begins_before_all_is_read(answer):
    assert answer.streaming
    pieces = iter(answer.streaming_content)
    with CaptureQueriesContext(connection) as statements:
        first = next(pieces)
    assert len(statements) == 0  # the first chunk was read with the status line
    assert first.count(b'"model"') == 3

    with CaptureQueriesContext(connection) as statements:
        next(pieces)
    assert len(statements) == 1  # the groups behind the last one


def test_the_pieces_are_one_array(answer):
    groups = json.loads(b"".join(answer.streaming_content))

    assert [group["model"] for group in groups] == [f"A-{number}" for number in range(8)]


def test_a_fault_before_the_first_byte_is_an_error_of_its_own(shop, acme, client_for, a_variant, monkeypatch):
    a_variant(acme, "A")

    def broken(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr(queries, "groups_behind", broken)

    answer = client_for(shop).get("variants", {"service_type": "ecommerce"})

    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


@pytest.mark.parametrize("variants", [1, 40])
def test_a_page_costs_the_same_whatever_it_holds(
    shop, acme, rival, client_for, a_variant, django_assert_num_queries, variants
):
    for number in range(variants):
        a_variant(acme, f"A-{number}", model=f"M-{number % 5}", stock=1)
    client = client_for(shop)
    client.get("variants", {"service_type": "ecommerce", "limit": 500})

    with django_assert_num_queries(5):  # the key, the partners, the pulse, Acme's groups, Rival's
        client.get("variants", {"service_type": "ecommerce", "limit": 500})
