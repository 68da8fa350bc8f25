"""The actor of a change. Functions that change records take the actor as the keyword argument `by`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.base_user import AbstractBaseUser

from accounts.models import ApiKey, Member
from api.request_id import current_request_id


class ActorKind(StrEnum):
    """The kind of an actor. The table of moves lists the kinds that may make each move."""

    SUPPLIER = "supplier"
    RETAILER = "retailer"
    OPERATOR = "operator"
    SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """An actor as the history names it: `key:fxk_… (Acme ERP)`, `user:anna`, `member:7`, `system:beat`."""

    kind: ActorKind
    name: str
    origin_request_id: str = ""
    """The id of the actor's request. Empty for the system, which uses the id of the current request."""
    reason: str = ""
    """The operator's reason. It is stored with every event, and only operators see it."""
    approved_by: str = ""
    """The second operator, who approved the action. It is stored like the reason."""

    @property
    def request_id(self) -> str:
        """Return the id that connects a change to responses and logs; empty outside a request or task."""
        return self.origin_request_id or current_request_id()

    @classmethod
    def of_key(cls, key: ApiKey) -> Actor:
        return cls(ActorKind(key.role.value), f"key:{key.prefix} ({key.name})", current_request_id())

    @classmethod
    def of_user(cls, user: AbstractBaseUser) -> Actor:
        return cls(ActorKind.OPERATOR, f"user:{user.get_username()}", current_request_id())

    @classmethod
    def of_member(cls, member: Member) -> Actor:
        return cls(ActorKind(member.role.value), member.actor_name, current_request_id())

    @classmethod
    def system(cls, name: str) -> Actor:
        return cls(ActorKind.SYSTEM, f"system:{name}")

    def __str__(self) -> str:
        return self.name
