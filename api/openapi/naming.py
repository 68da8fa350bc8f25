"""Ids and tags of operations.

An id is a verb with its object: `list_fulfillments`, `push_order`, `cancel_import`. It is derived from the
view's action and the path, unless the view's `operation_ids` name another id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

VERBS = {
    "retrieve": "get",
    "capture": "list",
    "partial_update": "change",
    "destroy": "delete",
}
OF_MANY = ("list", "pull")
OF_ONE = ("create", "push")
READS = ("get", *OF_MANY)
PARAMETER = re.compile(r"\{\w+\}")
PARTY = re.compile(r"^/?v3/(?:(supplier|retailer)s/\{\w+\})?/?")
# Paths that suppliers and retailers both have.
OF_BOTH = ("events", "webhooks")
SINGULAR = re.compile(r"(?<=[a-z])(?<!s)s$")

TASKS = {
    "accounts": "account",
    "assortment": "catalog",
    "catalog": "catalog",
    "events": "events",
    "fulfillments": "fulfillments",
    "imports": "imports",
    "inventory": "stock",
    "orders": "orders",
    "sftp_ingest": "imports",
    "webhooks": "webhooks",
}
"""The topic of each app, for readers of the schema."""

TAGS = {
    "Tokens": "OAuth2 client credentials: a key exchanged for a short-lived token.",
    "Variants": "One variant, for every party that may see it.",
    "Supplier account": "A supplier's own profile and trading partners.",
    "Supplier catalog": "A supplier's variants, one by one.",
    "Supplier events": "The events of a supplier's fulfillments and stock, in order and without gaps.",
    "Supplier fulfillments": "Capture, accept, ship and reject fulfillments; answer cancellations.",
    "Supplier imports": "Products and stock from files; uploads, templates, and automatic imports.",
    "Supplier stock": "Stock per warehouse, and the movements behind it.",
    "Supplier webhooks": "Events, sent to a supplier's own URL.",
    "Retailer account": "A retailer's own profile and trading partners.",
    "Retailer catalog": "The variants that a retailer may sell.",
    "Retailer events": "The events of a retailer's orders, in order and without gaps.",
    "Retailer orders": "Push, cancel and read orders.",
    "Retailer webhooks": "Events, sent to a retailer's own URL.",
}


def tag_of(path: str, room: str) -> str:
    """Return the tag of an operation: the kind of party and the topic, such as `Supplier stock`."""
    if path.startswith("/oauth"):
        return "Tokens"
    party = PARTY.match(path)
    role = party and party[1]
    if "/webhooks" in path:
        room = "webhooks"  # separate webhooks from the event feed, which is in the same app
    return f"{role.capitalize()} {TASKS.get(room, room)}" if role else "Variants"


def operation_id(path: str, method: str, action: str, named: Mapping[str, str]) -> str:
    """Return the id of an operation.

    `named` has the ids that the view sets, by the last word of a path or by the name of an action.
    """
    parts = [part for part in PARTY.sub("", path).split("/") if part]
    words = [part for part in parts if not PARAMETER.fullmatch(part)]
    last = words[-1] if words and parts[-1] == words[-1] else ""
    if explicit := named.get(last) or named.get(action):
        return explicit
    party = PARTY.match(path)
    role = (party and party[1]) or ""
    verb = VERBS.get(action, action)
    if method == "GET" and verb not in READS:
        verb = "get"
    nouns = [_noun(part, followed=at + 1 < len(parts)) for at, part in enumerate(parts) if part in words]
    if last and _snake(last) == verb:
        nouns.pop()
    if nouns and verb in OF_ONE:
        nouns[-1] = SINGULAR.sub("", nouns[-1])
    if not nouns or words[0] in OF_BOTH:
        nouns.insert(0, role)
    return "_".join([verb, *nouns])


def _noun(part: str, *, followed: bool) -> str:
    """Turn a part of a path into a noun of an operation's id. Use the singular if another part follows."""
    noun = _snake(part)
    return SINGULAR.sub("", noun) if followed else noun


def _snake(part: str) -> str:
    plain = re.sub(r"\.\w+$", "", part)
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", plain).replace("-", "_").replace(" ", "_")
