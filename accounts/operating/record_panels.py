"""A registry of panels and actions that upper apps add to the admin page of a lower app's record.

A lower app cannot import an upper app (docs/architecture.md). Therefore each app registers its panels and
actions in its `ready()`, and the model's admin reads the registry in each request. No app replaces the admin
of another app.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic

from django.db.models import Model
from django.http import HttpRequest

from accounts.operating.admin_base import Record
from accounts.operating.operator_actions import AdminAction


@dataclass(frozen=True)
class Panel(Generic[Record]):
    """A read-only part of a record's page. `render` returns safe HTML."""

    name: str
    heading: str
    render: Callable[[Record, HttpRequest], str]
    rank: int
    """Panels of a page are sorted by rank."""
    tab: str = ""
    """The tab of the panel, on pages with tabs (`backoffice.partners.tabs`)."""
    permission: str = ""
    """An operator without this permission does not see the panel."""


@dataclass(frozen=True)
class ShownPanel:
    """A panel in one request, as a callable that Django's admin shows like a read-only field."""

    panel: Panel[Any]
    request: HttpRequest

    @property
    def __name__(self) -> str:
        return self.panel.name

    @property
    def short_description(self) -> str:
        return self.panel.heading

    def __call__(self, record: Model) -> str:
        return self.panel.render(record, self.request)


_panels: dict[type[Model], list[Panel[Any]]] = defaultdict(list)
_actions: dict[type[Model], list[AdminAction[Any]]] = defaultdict(list)
_relations: dict[type[Model], list[str]] = defaultdict(list)


def register(
    model: type[Record],
    *,
    panels: Iterable[Panel[Record]] = (),
    actions: Iterable[AdminAction[Record]] = (),
    acts_with: Iterable[str] = (),
) -> None:
    """Add panels and actions to the pages of a model; `acts_with` are the relations that the actions read."""
    _panels[model] += panels
    _actions[model] += actions
    _relations[model] += acts_with


def panels_of(model: type[Model], request: HttpRequest) -> list[ShownPanel]:
    """Return the panels of a model that the operator may see."""
    panels = sorted(_panels.get(model, ()), key=lambda panel: panel.rank)
    seen = (each for each in panels if not each.permission or request.user.has_perm(each.permission))
    return [ShownPanel(panel, request) for panel in seen]


def actions_of(model: type[Model]) -> list[AdminAction[Any]]:
    return _actions.get(model, [])


def relations_of(model: type[Model]) -> list[str]:
    """Return the relations that a model's registered actions need."""
    return _relations.get(model, [])
