"""What operations are called, and under which heading they stand.

An id says what is done to what: `list_fulfillments`, `push_order`, `cancel_import`. It follows from the
view's action and the path; a view says otherwise in its `operation_ids`.
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
# Paths that both roles have.
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
"""What the rooms of the code are about, for whoever reads the schema."""

TAGS = {
    "Tokens": "OAuth2 client credentials: a key exchanged for a short-lived token.",
    "Variants": "One variant, for whoever may see it.",
    "Supplier account": "A supplier's own profile and trading partners.",
    "Supplier catalog": "A supplier's variants, one by one.",
    "Supplier events": "What happened to a supplier's work, in order and without gaps.",
    "Supplier fulfillments": "Capture the work, accept it, ship it, refuse it, answer cancellations.",
    "Supplier imports": "Products and stock from files; uploads, templates, and automatic imports.",
    "Supplier stock": "What is on hand in each warehouse, and why.",
    "Supplier webhooks": "Events, pushed to a supplier's own address.",
    "Retailer account": "A retailer's own profile and trading partners.",
    "Retailer catalog": "What a retailer may sell.",
    "Retailer events": "What happened to a retailer's orders, in order and without gaps.",
    "Retailer orders": "Push orders, cancel them, and see how they go on.",
    "Retailer webhooks": "Events, pushed to a retailer's own address.",
}


def tag_of(path: str, room: str) -> str:
    """The heading of an operation: by role and task."""
    if path.startswith("/oauth"):
        return "Tokens"
    party = PARTY.match(path)
    role = party and party[1]
    if "/webhooks" in path:
        room = "webhooks"  # of the app that has the events, too
    return f"{role.capitalize()} {TASKS.get(room, room)}" if role else "Variants"


def operation_id(path: str, method: str, action: str, own: Mapping[str, str]) -> str:
    """What the operation is called; `own` are the view's ids, by a path's last word or the action."""
    parts = [each for each in PARTY.sub("", path).split("/") if each]
    words = [each for each in parts if not PARAMETER.fullmatch(each)]
    last = words[-1] if words and parts[-1] == words[-1] else ""
    if found := own.get(last) or own.get(action):
        return found
    party = PARTY.match(path)
    role = (party and party[1]) or ""
    verb = VERBS.get(action, action)
    if method == "GET" and verb not in READS:
        verb = "get"
    named = [_noun(each, followed=at + 1 < len(parts)) for at, each in enumerate(parts) if each in words]
    if last and _snake(last) == verb:
        named.pop()
    if named and verb in OF_ONE:
        named[-1] = SINGULAR.sub("", named[-1])
    if not named or words[0] in OF_BOTH:
        named.insert(0, role)
    return "_".join([verb, *named])


def _noun(part: str, *, followed: bool) -> str:
    """A word of a path as it stands in an id: of what is followed by an id there is one."""
    noun = _snake(part)
    return SINGULAR.sub("", noun) if followed else noun


def _snake(part: str) -> str:
    plain = re.sub(r"\.\w+$", "", part)
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", plain).replace("-", "_").replace(" ", "_")
