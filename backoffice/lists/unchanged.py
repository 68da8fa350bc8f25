"""A form that is saved as it was says so."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest


class UnchangedMixin(ModelAdmin[Any]):
    """Django calls whatever is saved changed; operators read what was done."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        request.nothing_changed = not message  # type: ignore[attr-defined]
        return super().log_change(request, obj, message)

    def message_user(
        self, request: HttpRequest, message: Any, level: int | str = messages.INFO, *args: Any, **kwargs: Any
    ) -> None:
        if level == messages.SUCCESS and getattr(request, "nothing_changed", False):
            level, message = messages.WARNING, "It is as it was; nothing was changed."
        super().message_user(request, message, level, *args, **kwargs)
