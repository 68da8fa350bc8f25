"""What operators can do to an API key: give it a successor, or end it."""

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
        raise NothingChanged("It was revoked already.")
    _record("api_key.revoked", key, by=by)
    return f"{key} is revoked; its tokens ended with it."


def _rotate(key: ApiKey, by: Actor, answers: dict[str, Any]) -> str:
    successor, secret = key.rotate()
    _record("api_key.rotated", key, by=by, successor=successor.prefix)
    key.fresh = [(successor, secret)]  # type: ignore[attr-defined]  # for the page that shows it once
    return f"{successor} takes its place; the old one opens for another 24 hours."


def _record(type: str, key: ApiKey, *, by: Actor, **data: Any) -> None:  # noqa: A002
    known = {"api_key_id": key.pk, "name": key.name, "prefix": key.prefix}
    record(type, by=by, area=ACCOUNTS, data={**known, **data}, **{key.role.value: key.party})


def _used(key: ApiKey) -> str:
    if key.last_used_at is None:
        return "It was never used."
    return f"It was last used {key.last_used_at:%-d %b %Y, %H:%M} (UTC)."


def _not_usable(key: ApiKey) -> str:
    return "" if key.usable(at=timezone.now()) else "It opens nothing any more; issue a new one instead."


def _revoked(key: ApiKey) -> str:
    return "It was revoked already." if key.revoked_at else ""


ACTIONS = (
    AdminAction[ApiKey](
        "rotate",
        "Rotate",
        _rotate,
        _not_usable,
        lambda key: (
            f"{key.party} gets a new key with the same rights, and {key} ends in 24 hours. {_used(key)}"
        ),
        help_text="The new key stands on the next page, once.",
        reason=Reason.OPTIONAL,
        undo="Revoke the new one, and set the old one's end on its page.",
    ),
    AdminAction[ApiKey](
        "revoke",
        "Revoke",
        _revoke,
        _revoked,
        lambda key: f"{key} of {key.party} opens nothing from now on, nor do its tokens. {_used(key)}",
        help_text="At once. To let its party change over, rotate it instead.",
        reason=Reason.REQUIRED,
        danger=True,
        bulk=True,
        undo="It cannot be undone; a new key can be issued.",
    ),
)
