"""Calls after the commit. A failed call changes neither the committed change nor the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import ParamSpec

from django.db import transaction

P = ParamSpec("P")


def call_after_commit(function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call a function after the commit of this transaction. A failure is only logged."""
    bound = partial(function, *args, **kwargs)
    # Django logs the `__qualname__` of a function that failed. A plain partial has no `__qualname__`, and the
    # AttributeError would report a committed change to the client as failed.
    transaction.on_commit(update_wrapper(bound, function), robust=True)
