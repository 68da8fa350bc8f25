"""Each type of event that partners can choose has a TypedDict for its data, and a test that records it."""

from __future__ import annotations

from pathlib import Path

from accounts.scopes import Role, Scope
from events.data_types import DATA_TYPES
from events.models import areas_of
from events.webhooks.types import TESTED, types_of
from tests.architecture.sources import text_of


def test_the_data_of_every_type_is_typed():
    chosen = {name for role in Role for name in types_of(role, areas_of(Scope))}

    assert sorted(chosen | {TESTED}) == sorted(DATA_TYPES)


def test_some_test_of_behavior_names_each_type():
    tests = Path(__file__).parents[1]
    texts = [text_of(path) for path in tests.rglob("test_*.py") if path.parent != Path(__file__).parent]
    unnamed = [name for name in DATA_TYPES if not any(f'"{name}"' in text for text in texts)]

    assert unnamed == []
