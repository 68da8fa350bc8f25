"""Actions of operators on a variant: delist it, and list it again."""

from __future__ import annotations

from collections.abc import Callable

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from catalog.models import Variant


def _set_listed(*, listed: bool) -> Callable[[Variant, Actor, dict[str, object]], str]:
    def run(variant: Variant, by: Actor, answers: dict[str, object]) -> str:
        state = "listed" if listed else "delisted"
        if not variant.change({"listed": listed}, by=by):
            raise NothingChanged(f"The variant was already {state}.")
        return f"{variant.sku} of {variant.supplier} is {state}."

    return run


ACTIONS = (
    AdminAction[Variant](
        "delist",
        "Delist variant",
        _set_listed(listed=False),
        lambda variant: "" if variant.listed else "The variant is already delisted.",
        lambda variant: f"Retailers can no longer see or order {variant.sku} of {variant.supplier}.",
        help_text="Existing orders continue. The supplier's next product file can list the variant again.",
        reason=Reason.REQUIRED,
        danger=True,
        bulk=True,
        undo="List the variant again.",
        undone_by="list-again",
    ),
    AdminAction[Variant](
        "list-again",
        "List variant again",
        _set_listed(listed=True),
        lambda variant: "The variant is already listed." if variant.listed else "",
        lambda variant: (
            f"The supplier's partners can see and order {variant.sku} of {variant.supplier} again."
        ),
        reason=Reason.OPTIONAL,
        bulk=True,
        undo="Delist the variant.",
        undone_by="delist",
    ),
)
