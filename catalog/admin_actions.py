"""What operators can do to a variant beside its form: take it out of what retailers see, and put it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from catalog.models import Variant


def _set_listed(*, listed: bool) -> Callable[[Variant, Actor, dict[str, Any]], str]:
    def run(variant: Variant, by: Actor, answers: dict[str, Any]) -> str:
        done = "listed again" if listed else "delisted"
        if not variant.change({"listed": listed}, by=by):
            raise NothingChanged(f"It was {done} already.")
        return f"{variant.sku} of {variant.supplier} is {done}."

    return run


ACTIONS = (
    AdminAction[Variant](
        "delist",
        "Delist",
        _set_listed(listed=False),
        lambda variant: "" if variant.listed else "It is delisted already.",
        lambda variant: f"Retailers no longer see {variant.sku} of {variant.supplier}, nor can order it.",
        help_text="What is ordered already goes on. The supplier's next product file can list it again.",
        reason=Reason.REQUIRED,
        danger=True,
        bulk=True,
        undo="List again.",
        undone_by="list-again",
    ),
    AdminAction[Variant](
        "list-again",
        "List again",
        _set_listed(listed=True),
        lambda variant: "It is listed." if variant.listed else "",
        lambda variant: f"The supplier's partners see {variant.sku} of {variant.supplier}, and can order it.",
        reason=Reason.OPTIONAL,
        bulk=True,
        undo="Delist.",
        undone_by="delist",
    ),
)
