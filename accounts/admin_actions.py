"""What operators do to a record: buttons on its page and actions on its list, all through model methods.

A record's page is for reading; it changes only by an action, which calls the method that the API calls too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from accounts.actors import Actor
from accounts.admin_base import ReadOnlyAdmin, Record, operator_of
from api.errors import ApiError, database_error

SHOWN_FAILURES = 5


@dataclass(frozen=True)
class AdminAction(Generic[Record]):
    """One thing to do.

    `run(record, actor, answers)` returns a message for the operator, or raises ApiError. `form`, called with
    the record and what was sent, asks beforehand; one that needs confirmation is asked about in any case.
    """

    name: str
    label: str
    run: Callable[[Record, Actor, dict[str, Any]], str]
    is_possible: Callable[[Record], bool]
    form: Callable[[Record, dict[str, Any] | None], Form] | None = None
    help_text: str = ""
    needs_confirmation: bool = False
    bulk: bool = False

    @property
    def asks(self) -> bool:
        return self.form is not None or self.needs_confirmation


class RecordAdmin(ReadOnlyAdmin[Record]):
    """A model that operators read, and change by its actions alone; Support sees it without the buttons."""

    record_actions: ClassVar[Sequence[AdminAction[Any]]] = ()
    page_template: ClassVar[str]

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Whether this user may do more than look."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def page_context(self, record: Record) -> dict[str, Any]:
        """What the record's page shows beside the record."""
        return {}

    # --- The page --------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_do"
        view = self.admin_site.admin_view(self.action_view)
        return [path("<int:object_id>/do/<slug:action_name>/", view, name=name), *super().get_urls()]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if object_id is None or not self.has_view_permission(request):
            raise PermissionDenied
        record = self.get_object(request, object_id)
        if record is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined,no-any-return]
        acting = self.has_act_permission(request)
        context = {
            **self._context(request, record),
            **self.page_context(record),
            "record_actions": [
                action for action in self.record_actions if acting and action.is_possible(record)
            ],
            **(extra_context or {}),
        }
        return TemplateResponse(request, self.page_template, context)

    def action_view(self, request: HttpRequest, object_id: int, action_name: str) -> HttpResponse:
        """Run an action, after asking what it needs to know. Then back to the record's page."""
        if not (self.has_view_permission(request) and self.has_act_permission(request)):
            raise PermissionDenied
        record = self.get_object(request, str(object_id))
        action = next((action for action in self.record_actions if action.name == action_name), None)
        if record is None or action is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, str(object_id))  # type: ignore[attr-defined,no-any-return]
        sent = request.POST.dict() if request.method == "POST" else None
        form = action.form(record, sent) if action.form else None
        if sent is not None and (form is None or form.is_valid()):
            self._run(request, action, record, form.cleaned_data if form else {})
            return HttpResponseRedirect(self._url(record))
        context = {
            **self._context(request, record),
            "action": action,
            "form": form,
            "back": self._url(record),
        }
        return TemplateResponse(request, "admin/action.html", context)

    def _context(self, request: HttpRequest, record: Record) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": record,
            "title": str(record),
        }

    def _url(self, record: Record) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[record.pk])

    def _run(
        self, request: HttpRequest, action: AdminAction[Record], record: Record, answers: dict[str, Any]
    ) -> None:
        try:
            messages.success(request, action.run(record, operator_of(request), answers))
        except (ApiError, OperationalError, InterfaceError) as error:
            messages.error(request, failure(error))

    # --- The list --------------------------------------------------------------------------------

    def get_actions(self, request: HttpRequest) -> dict[str, tuple[Callable[..., str], str, str] | None]:
        actions = super().get_actions(request)
        if self.has_act_permission(request):
            for action in self.record_actions:
                if action.bulk:
                    actions[action.name] = (partial(_run_on_each, action), action.name, action.label)  # type: ignore[assignment]
        return actions


def _run_on_each(
    action: AdminAction[Any], modeladmin: RecordAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]
) -> None:
    """Do it to one after the other, each in a transaction of its own: one that fails keeps nobody back."""
    actor, done = operator_of(request), 0
    left_out: defaultdict[str, list[str]] = defaultdict(list)  # why, and which
    for record in queryset.order_by("pk"):
        try:
            action.run(record, actor, {})
            done += 1
        except (ApiError, OperationalError, InterfaceError) as error:
            left_out[failure(error)].append(str(record))
    if done:
        messages.success(request, f"{action.label}: done for {done}.")
    for why, which in [*left_out.items()][:SHOWN_FAILURES]:
        named = ", ".join(which[:SHOWN_FAILURES])
        more = f" and {len(which) - SHOWN_FAILURES} more" if len(which) > SHOWN_FAILURES else ""
        messages.error(request, f"{action.label}: left out {len(which)}: {named}{more}. {why}")
    rest = sum(map(len, [*left_out.values()][SHOWN_FAILURES:]))
    if rest:
        messages.error(request, f"… and {rest} more could not be done.")


def badge(state: str) -> SafeString:
    """A state as lists show it."""
    return format_html('<span class="bo-state bo-state-{}">{}</span>', slugify(state), state)


def failure(error: Exception) -> str:
    """An error in words for an operator."""
    return error.message if isinstance(error, ApiError) else database_error(error).message
