"""The first read of a request tests the kept connection."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.db import Error, OperationalError, connection, connections, transaction

from fastdb.first import read_first

pytestmark = pytest.mark.django_db(transaction=True)


def one() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return int(cursor.fetchone()[0])


@pytest.fixture
def kept() -> None:
    """Leave an open connection, as an earlier request does."""
    one()
    not_tried_yet()


def not_tried_yet() -> None:
    """Reset the connection as at the beginning of a request."""
    state: Any = connection  # Django's types lack the attributes about the connection's health
    state.health_check_enabled, state.health_check_done = True, False


def end_it_from_outside() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])
    finally:
        other.close()


@transaction.atomic
def read_within_a_transaction_that_is_lost(read: mock.Mock) -> None:
    end_it_from_outside()
    not_tried_yet()
    read_first(read)


def test_a_live_connection_is_not_tested_again(kept):
    with mock.patch.object(connection, "is_usable") as tried:
        assert read_first(one) == 1
        assert one() == 1
    tried.assert_not_called()


def test_a_dead_connection_is_replaced_without_an_error(kept):
    end_it_from_outside()
    not_tried_yet()
    assert read_first(one) == 1
    assert one() == 1


def test_an_error_on_a_live_connection_is_not_repeated(kept):
    read = mock.Mock(side_effect=OperationalError("it took too long"))
    with pytest.raises(OperationalError):
        read_first(read)
    assert read.call_count == 1


def test_within_a_transaction_nothing_is_repeated(kept):
    """A repetition on a new connection would be outside the transaction."""
    read = mock.Mock(side_effect=one)
    with pytest.raises(Error):
        read_within_a_transaction_that_is_lost(read)
    assert read.call_count == 1
