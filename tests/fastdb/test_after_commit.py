"""A function that fails after the commit affects neither the change nor its answer."""

from __future__ import annotations

import pytest
from django.db import OperationalError, transaction

from fastdb.after_commit import call_after_commit

pytestmark = pytest.mark.django_db(transaction=True)


def lose_the_connection(*variant_ids: int) -> None:
    raise OperationalError(f"the connection is closed for {variant_ids}")


def test_a_failure_after_the_commit_is_logged_with_the_name_of_the_function(caplog):
    with transaction.atomic():
        call_after_commit(lose_the_connection, 7, 8)

    assert "lose_the_connection" in caplog.text
    assert "the connection is closed for (7, 8)" in caplog.text


def test_the_calls_after_a_failed_one_still_happen():
    called: list[int] = []
    with transaction.atomic():
        call_after_commit(lose_the_connection)
        call_after_commit(called.append, 1)

    assert called == [1]


def test_a_rollback_calls_nothing():
    called: list[int] = []
    with transaction.atomic():
        call_after_commit(called.append, 1)
        transaction.set_rollback(True)

    assert called == []
