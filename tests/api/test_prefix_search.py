"""The search for numbers by their first digits."""

from __future__ import annotations

import pytest
from django.db.models.lookups import Lookup

from api.prefix_search import begins_with_digits
from catalog.models import Variant

NUMBERS = ("", "0", "12", "120", "129", "1299", "13", "9", "99", "990", "999999999999")


@pytest.mark.django_db
@pytest.mark.parametrize("digits", ["0", "12", "129", "1299", "13", "9", "99", "999"])
def test_the_first_digits_find_all_numbers_that_begin_with_them(digits, acme, a_variant):
    for number in NUMBERS:
        a_variant(acme, f"SKU-{number}", upc=number)

    found = Variant.objects.filter(begins_with_digits("upc", digits)).values_list("upc", flat=True)

    assert sorted(found) == [number for number in NUMBERS if number.startswith(digits)]


@pytest.mark.parametrize("digits", ["12", "129", "99"])
def test_the_bounds_have_only_digits_because_other_characters_sort_by_locale(digits):
    where = Variant.objects.filter(begins_with_digits("upc", digits)).query.where

    assert all(lookup.rhs.isdecimal() for lookup in where.children if isinstance(lookup, Lookup))
