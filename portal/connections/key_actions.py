"""Actions on API keys: issue, rotate and revoke. Members and operators use the same actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ApiKey, Retailer, Supplier
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from api.errors import ApiError
from events.models import ACCOUNTS
from events.recording import record
from portal.connections.forms import KeyForm
from portal.connections.shown_once import show_once

MOST_KEYS = 50
"""The maximum number of usable keys of a party. Members cannot create further keys."""


class TooManyKeys(ApiError):
    """The party has MOST_KEYS usable keys, so its members cannot create another key."""

    code, status = "too_many_keys", 409


def _issue(party: Supplier | Retailer, by: Actor, answers: dict[str, Any]) -> str:
    type(party).objects.select_for_update(no_key=True).get(pk=party.pk)
    usable = ApiKey.objects.of_party(party).usable(at=timezone.now())
    if usable.count() >= MOST_KEYS:
        raise TooManyKeys(f"There are already {MOST_KEYS} keys. Revoke a key first.")
    fields = {name: answers[name] for name in ("scopes", "allowed_networks")}
    key, secret = ApiKey.issue(party, answers["name"], **fields)
    _record("api_key.created", key, by=by)
    show_once(party, ("API key", secret), ("OAuth client_id", key.prefix))
    return f"{key} was created."


def _revoke(key: ApiKey, by: Actor, answers: dict[str, object]) -> str:
    if not key.revoke():
        raise NothingChanged("This key is already revoked.")
    _record("api_key.revoked", key, by=by)
    return f"{key} is revoked. Its tokens no longer work."


def _rotate(key: ApiKey, by: Actor, answers: dict[str, object]) -> str:
    successor, secret = key.rotate()
    _record("api_key.rotated", key, by=by, successor=successor.prefix)
    key.fresh = [(successor, secret)]  # type: ignore[attr-defined]  # for the page that shows the secret once
    show_once(key, ("API key", secret), ("OAuth client_id", successor.prefix))
    return f"{successor} replaces {key}. The old key works for another 24 hours."


def _record(type: str, key: ApiKey, *, by: Actor, **data: object) -> None:  # noqa: A002
    known = {"api_key_id": key.pk, "name": key.name, "prefix": key.prefix}
    record(type, by=by, area=ACCOUNTS, data={**known, **data}, **{key.role.value: key.party})


def _preview_of_rotation(key: ApiKey) -> str:
    end = key.end_of_successor
    ends = f"ends on {end:%-d %b %Y} (UTC), as this key does" if end else "has no end"
    return (
        f"{key.party} gets a new key with the same scopes, which {ends}. "
        f"{key} works for another 24 hours. {_used(key)}"
    )


def _used(key: ApiKey) -> str:
    if key.last_used_at is None:
        return "It was never used."
    # Leave out the time: it changes each minute, so the preview of an action would be stale at once.
    return f"It was last used on {key.last_used_at:%-d %b %Y} (UTC)."


def _not_usable(key: ApiKey) -> str:
    return "" if key.usable(at=timezone.now()) else "This key is expired or revoked. Issue a new key instead."


def _revoked(key: ApiKey) -> str:
    return "This key is already revoked." if key.revoked_at else ""


CREATE_KEY = AdminAction[Any](
    "create-key",
    "Create API key",
    _issue,
    lambda party: "",
    lambda party: f"A system of {party} can use the API with this key.",
    form=KeyForm.of,
    help_text="The next page shows the key once. Copy it there.",
    undo="Revoke the key.",
)
ACTIONS = (
    AdminAction[ApiKey](
        "rotate",
        "Rotate key",
        _rotate,
        _not_usable,
        _preview_of_rotation,
        help_text="The next page shows the new key once.",
        reason=Reason.OPTIONAL,
        undo="Revoke the new key. An operator can extend the time of the old key.",
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
        is_final=True,
        acts_on_changed=True,  # the effect names the last use, and a used key must be revoked, too
        bulk=True,
        undo="This cannot be undone. Issue a new key.",
    ),
)
OF_MEMBERS = tuple(replace(action, reason=Reason.NONE) for action in ACTIONS)
"""The actions of members. They ask for no reason, because only operators see reasons."""
