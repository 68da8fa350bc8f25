"""Admin actions on API keys: rotate and revoke."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ApiKey
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from events.models import ACCOUNTS
from events.recording import record


def _revoke(key: ApiKey, by: Actor, answers: dict[str, Any]) -> str:
    if not key.revoke():
        raise NothingChanged("This key is already revoked.")
    _record("api_key.revoked", key, by=by)
    return f"{key} is revoked; its tokens ended with it."


def _rotate(key: ApiKey, by: Actor, answers: dict[str, Any]) -> str:
    successor, secret = key.rotate()
    _record("api_key.rotated", key, by=by, successor=successor.prefix)
    key.fresh = [(successor, secret)]  # type: ignore[attr-defined]  # for the page that shows the secret once
    return f"{successor} replaces {key}. The old key works for another 24 hours."


def _record(type: str, key: ApiKey, *, by: Actor, **data: Any) -> None:  # noqa: A002
    known = {"api_key_id": key.pk, "name": key.name, "prefix": key.prefix}
    record(type, by=by, area=ACCOUNTS, data={**known, **data}, **{key.role.value: key.party})


def _used(key: ApiKey) -> str:
    if key.last_used_at is None:
        return "It was never used."
    return f"It was last used {key.last_used_at:%-d %b %Y, %H:%M} (UTC)."


def _not_usable(key: ApiKey) -> str:
    return "" if key.usable(at=timezone.now()) else "This key is expired or revoked. Issue a new key instead."


def _revoked(key: ApiKey) -> str:
    return "This key is already revoked." if key.revoked_at else ""


ACTIONS = (
    AdminAction[ApiKey](
        "rotate",
        "Rotate key",
        _rotate,
        _not_usable,
        lambda key: f"{key.party} gets a new key with the same scopes. {key} ends in 24 hours. {_used(key)}",
        help_text="The next page shows the new key once.",
        reason=Reason.OPTIONAL,
        undo="Revoke the new key, and change the end of the old key on its page.",
    ),
    AdminAction[ApiKey](
        "revoke",
        "Revoke key",
        _revoke,
        _revoked,
        lambda key: f"{key} of {key.party} and its tokens stop working at once. {_used(key)}",
        help_text="Rotate the key instead to give its party time to switch.",
        reason=Reason.REQUIRED,
        danger=True,
        bulk=True,
        undo="This cannot be undone. Issue a new key.",
    ),
)
