"""The interface between actions on many records and the two sites with such actions, admin and portal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from django.db.models import Model, QuerySet

from accounts.actors import ActorKind
from accounts.models import OperatorAction
from accounts.operating.operator_actions import AdminAction


class Acting(Protocol):
    """The interface to one model's records and actions. Admins and classes of the portal implement it."""

    @property
    def model(self) -> type[Model]: ...

    @property
    def actor_kind(self) -> ActorKind:
        """Return the kind of the person who chooses and confirms the action."""
        ...

    def acting_on(self, record_ids: Sequence[int]) -> QuerySet[Any]:
        """Return these records with the relations that actions read."""
        ...

    def find_action(self, name: str) -> AdminAction[Any] | None: ...


_for_members: dict[str, Acting] = {}


def register_for_members(acting: Acting) -> None:
    """Register the portal's `Acting` of a model, so that members can do actions to many of its records."""
    _for_members[acting.model._meta.label_lower] = acting


def acting_of_members(chosen: OperatorAction) -> Acting | None:
    """Return the portal's `Acting` for the action of a member, or None for the action of an operator."""
    return _for_members[chosen.model] if chosen.actor.startswith("member:") else None
