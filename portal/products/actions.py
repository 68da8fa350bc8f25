"""A supplier's actions on its products: the operators' actions with other labels, without a reason."""

from __future__ import annotations

from dataclasses import replace

from accounts.operating.operator_actions import AdminAction, Reason
from catalog.admin_actions import ACTIONS as OF_OPERATORS
from catalog.models import Variant

LABELS = {"delist": "Delist product", "list-again": "List product again"}
ACTIONS: tuple[AdminAction[Variant], ...] = tuple(
    replace(action, label=LABELS[action.name], reason=Reason.NONE, undo=f"{LABELS[action.undone_by]}.")
    for action in OF_OPERATORS
)
