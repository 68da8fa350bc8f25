"""The guide lists the types of events for partners."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

from django.conf import settings

from accounts.scopes import Role, Scope
from events.models import areas_of
from events.webhooks.types import TESTED, types_of
from fulfillments.states import EVENTS
from tests.architecture.sources import DOMAIN, sources, text_of

ALL = areas_of(Scope)

TYPE = re.compile(r"(order|fulfillment|import|variant|inventory|warehouse)\.[a-z_]+")


def documented():
    """Return the types that the guide lists.

    The guide shortens `order.created`, `order.held` to `order.created`, `.held`.
    """
    table = text_of("docs/api-guide.md").partition("\n## Events")[2]
    subject, types = "", set()
    for first, name in re.findall(r"`(\w*)\.(\w+)`", table):
        subject = first or subject
        types.add(f"{subject}.{name}")
    return types


def row():
    """Return the row of the guide's table that lists the events of fulfillments."""
    first, *others = (name.partition(".")[2] for name in EVENTS)
    cells = ", ".join([f"`fulfillment.{first}`", *(f"`.{name}`" for name in others)])
    return f"| `fulfillments` | {cells} |"


def test_the_guide_lists_the_events_of_the_moves():
    """`UPDATE_EXAMPLES=1 pytest tests/events/test_documented_types.py` updates the row in the guide."""
    guide = Path(settings.BASE_DIR) / "docs" / "api-guide.md"
    text = guide.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_EXAMPLES"):
        text = re.sub(r"^\| `fulfillments` \|.*$", row(), text, count=1, flags=re.MULTILINE)
        guide.write_text(text, encoding="utf-8")
    assert row() in text


def recorded():
    """Return the types of events that the code names."""
    return {
        node.value
        for tree in sources(*DOMAIN).values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and TYPE.fullmatch(node.value)
    }


def test_every_type_of_event_is_documented():
    assert recorded() - documented() == set()


def test_webhooks_can_ask_for_every_type():
    """Add a new type to `events.webhooks.types`, too."""
    types = {*types_of(Role.SUPPLIER, ALL), *types_of(Role.RETAILER, ALL)}
    assert recorded() - types == set()
    assert {name for name in documented() if not name.startswith("data.")} == types | {TESTED}
