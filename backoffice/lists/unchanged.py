"""A message for forms that were saved without changes."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest


class UnchangedMixin(ModelAdmin[Any]):
    """A mixin that replaces Django's "was changed" message when nothing was changed."""

    def log_change(self, request: HttpRequest, obj: object, message: object) -> Any:
        request.nothing_changed = not message  # type: ignore[attr-defined]
        return super().log_change(request, obj, message)

    def message_user(
        self, request: HttpRequest, message: Any, level: int | str = messages.INFO, *args: Any, **kwargs: Any
    ) -> None:
        if level == messages.SUCCESS and getattr(request, "nothing_changed", False):
            level, message = messages.WARNING, "Nothing was changed: the form has no new values."
        super().message_user(request, message, level, *args, **kwargs)
