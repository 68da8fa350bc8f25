"""The part of a site that does actions to many records: an admin, or a page of the portal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from django.db.models import Model, QuerySet

from accounts.actors import ActorKind
from accounts.models import OperatorAction
from accounts.operating.operator_actions import AdminAction


class Acting(Protocol):
    """The admin of the model that the action is for, or its part in the portal."""

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
    """Let members do actions to many records of this model."""
    _for_members[acting.model._meta.label_lower] = acting


def acting_of_members(chosen: OperatorAction) -> Acting | None:
    """Return the part of the portal that does an action of a member; None for an action of an operator."""
    return _for_members[chosen.model] if chosen.actor.startswith("member:") else None
