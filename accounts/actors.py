"""Who did it: the one keyword that every change takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.base_user import AbstractBaseUser

from accounts.models import ApiKey
from api.request_id import current_request_id


class ActorKind(StrEnum):
    """On whose behalf a change is made; the table of states says who may make which."""

    SUPPLIER = "supplier"
    RETAILER = "retailer"
    OPERATOR = "operator"
    SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """Somebody, as history names them: `key:fxk_… (Acme ERP)`, `user:anna`, `system:beat`."""

    kind: ActorKind
    name: str
    asked_in: str = ""
    """The request in which somebody came; the system acts in whichever one is being worked on."""
    reason: str = ""
    """Why an operator does it; kept with every event, and shown to operators alone."""

    @property
    def request_id(self) -> str:
        """What ties this to an answer and to log lines; empty outside of any request or task."""
        return self.asked_in or current_request_id()

    @classmethod
    def of_key(cls, key: ApiKey) -> Actor:
        return cls(ActorKind(key.role.value), f"key:{key.prefix} ({key.name})", current_request_id())

    @classmethod
    def of_user(cls, user: AbstractBaseUser) -> Actor:
        return cls(ActorKind.OPERATOR, f"user:{user.get_username()}", current_request_id())

    @classmethod
    def system(cls, name: str) -> Actor:
        return cls(ActorKind.SYSTEM, f"system:{name}")

    def __str__(self) -> str:
        return self.name
