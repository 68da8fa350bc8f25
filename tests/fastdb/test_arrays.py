"""Arrays as one text: PostgreSQL reads the same values that the list has."""

from __future__ import annotations

import pytest
from django.db import connection

from fastdb import arrays

pytestmark = pytest.mark.django_db


def read(query: str, parameter: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(query, [parameter])
        return cursor.fetchone()[0]


@pytest.mark.parametrize("values", [[], [7], [3, -1, 2**63 - 1]])
def test_numbers_arrive_in_their_order(values):
    assert read("SELECT %s::bigint[]", arrays.numbers(values)) == values


@pytest.mark.parametrize("values", [[], ["A"], ["a,b", '"', "{}", "\\", "NULL", "'; --", "Größe 1", "A"]])
def test_texts_arrive_as_they_are(values):
    assert read(r"SELECT string_to_array(%s, E'\x1f')", arrays.texts(values)) == values
