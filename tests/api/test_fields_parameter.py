"""The schema says how `fields` changes an answer."""

from __future__ import annotations

from typing import TypedDict

from api.field_selection import fields_of


class SelectedJson(TypedDict):
    id: int
    name: str


def test_the_schema_says_that_fields_leaves_required_fields_out():
    assert "no other fields, even if its schema requires them" in str(fields_of(SelectedJson).description)
