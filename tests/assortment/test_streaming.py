"""The pull needs constant memory: it reads one chunk of groups at a time, with a few statements."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack, closing

import msgspec
import psycopg
import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from assortment import pull as pulling
from assortment import selectors
from assortment.serializers import GroupJson
from catalog.models import Variant


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(pulling.Pull.read, "__defaults__", (pulling.START, 3))


@pytest.fixture
def ask(shop, client_for):
    client = client_for(shop)
    return lambda **params: client.get("variants", {"service_type": "ecommerce", **params})


@pytest.fixture
def streamed(ask):
    """Return a function that requests the whole pull. The stream is closed after the test."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(ask()))


@pytest.fixture
def answer(acme, streamed, a_variant, small_chunks):
    for number in range(8):
        a_variant(acme, f"A-{number}", stock=number)
    return streamed()


@pytest.fixture
def long_answer(acme, streamed, a_variant, small_chunks):
    for number in range(14):
        a_variant(acme, f"A-{number:02}", stock=number)
    return streamed()


def test_the_answer_begins_before_all_is_read(answer):
    assert answer.streaming
    parts = iter(answer.streaming_content)
    with CaptureQueriesContext(connection) as statements:
        first = next(parts)
    assert len(statements) == 0  # the first chunk was read before the answer began
    assert first.count(b'"model"') == 3

    with CaptureQueriesContext(connection) as statements:
        next(parts)
    assert 1 <= len(statements) <= 2  # the statements read the groups after the first chunk


def test_no_more_than_one_chunk_is_read_ahead_of_the_client(long_answer):
    parts = iter(long_answer.streaming_content)
    with CaptureQueriesContext(connection) as statements:
        for taken, part in enumerate(parts, start=1):
            assert len(statements) <= taken
            assert part == b"]" or part.count(b'"model"') <= 3
    assert len(statements) == 5  # the first 3 of Acme's 14 groups were read before; Rival has no groups


@pytest.mark.django_db(transaction=True)
def test_a_client_that_goes_away_leaves_nothing_running(long_answer):
    parts = iter(long_answer.streaming_content)
    next(parts), next(parts)
    assert readers()  # at this moment, a thread is reading the third chunk

    long_answer.close()

    assert not readers()
    assert Variant.objects.count() == 14  # the connection can be used again


def readers():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("prefetcher")]


@pytest.mark.django_db(transaction=True)
def test_a_database_failure_cuts_the_answer_and_the_next_answer_is_complete(long_answer, ask):
    parts = iter(long_answer.streaming_content)
    received = next(parts)
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])

    with pytest.raises(OperationalError):
        received += b"".join(parts)
    long_answer.close()
    connection.close()

    assert not received.endswith(b"]")
    assert len(json.loads(b"".join(ask().streaming_content))) == 14


@pytest.mark.django_db(transaction=True)
def test_every_group_has_exactly_the_fields_and_types_of_the_schema(acme, ask, a_variant):
    full = {
        "special_sale_price_start": "2026-02-01T00:00:00Z",
        "special_sale_price_end": "2026-02-10T00:00:00Z",
    }
    a_variant(acme, "FULL", wholesale_price="8.5", images="https://i.example/1.jpg", stock=5, **full)
    a_variant(acme, "BARE")
    since = ask()["Updated-Since"]
    gone = a_variant(acme, "GONE")
    Variant.objects.filter(pk=gone.pk).update(listed=False)

    whole = b"".join(ask().streaming_content)
    changes = b"".join(ask(updated_since=since).streaming_content)

    for body, count in ((whole, 2), (changes, 1)):
        assert len(msgspec.json.decode(body, type=list[GroupJson])) == count
        assert [set(group) for group in json.loads(body)] == [set(GroupJson.__annotations__)] * count


def test_the_chunks_are_one_array(answer):
    groups = json.loads(b"".join(answer.streaming_content))

    assert [group["model"] for group in groups] == [f"A-{number}" for number in range(8)]


def test_a_fault_before_the_first_byte_gets_an_error_answer(shop, acme, client_for, a_variant, monkeypatch):
    a_variant(acme, "A")

    def broken(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr(selectors, "groups_behind", broken)

    answer = client_for(shop).get("variants", {"service_type": "ecommerce"})

    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


@pytest.mark.parametrize("variants", [1, 40])
def test_a_page_of_any_content_costs_the_same(
    shop, acme, rival, client_for, a_variant, django_assert_num_queries, variants
):
    for number in range(variants):
        a_variant(acme, f"A-{number}", model=f"M-{number % 5}", stock=1)
    client = client_for(shop)
    client.get("variants", {"service_type": "ecommerce", "limit": 500})

    # Queries: the key, the partners, the snapshot, Acme's groups, Rival's groups.
    with django_assert_num_queries(5):
        client.get("variants", {"service_type": "ecommerce", "limit": 500})
