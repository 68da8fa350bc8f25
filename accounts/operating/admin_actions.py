"""Base admins with actions: buttons on a record's page, and entries in the menu of its list.

A record's page is read-only. A record changes only by an action, which calls the same method as the API.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import Result
from accounts.operating import bulk_actions
from accounts.operating.admin_base import ReadOnlyAdmin, Record, operator_of
from accounts.operating.bulk_pages import BulkPages
from accounts.operating.operator_actions import STALE, AdminAction, is_stale, typed_texts
from accounts.operating.record_panels import ShownPanel, panels_of

LEVELS = {Result.DONE: messages.SUCCESS, Result.UNCHANGED: messages.WARNING}
"""The level of a message about the result of an action; all other results are errors."""


class ActingAdmin(BulkPages[Record]):
    """The admin of a model that operators change by actions, on a record's page or on many listed records."""

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_do"
        view = self.admin_site.admin_view(self.action_view)
        action_urls = [path("<int:object_id>/do/<slug:action_name>/", view, name=name)]
        return [*action_urls, *self.bulk_urls(), *super().get_urls()]

    def action_view(self, request: HttpRequest, object_id: int, action_name: str) -> HttpResponse:
        """Show the effect of an action and its form. On POST, do the action and redirect to `next`."""
        if not (self.has_view_permission(request) and self.has_act_permission(request)):
            raise PermissionDenied
        record, action = self.acting_on([object_id]).first(), self.find_action(action_name)
        if record is None or action is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, str(object_id))  # type: ignore[attr-defined,no-any-return]
        sent = request.POST.dict() if request.method == "POST" else None
        form_id, after = sent_form_id(sent), self._after(request, record)
        if sent is not None and (first := bulk_actions.was_sent(form_id)):
            messages.warning(request, first)
            return HttpResponseRedirect(after)
        why_not = action.why_not(record)
        form = action.form_for(record, sent)
        if sent is not None and why_not:
            messages.error(request, why_not)
            if not typed_texts(form):
                return HttpResponseRedirect(self._url(record))
        elif sent is not None and form.is_valid() and is_stale(action, record, sent):
            messages.warning(request, STALE)
        elif sent is not None and form.is_valid():
            result = self._run(request, action, record, form.cleaned_data, form_id)
            if result is Result.DONE:
                return self.after_action(request, record, after)
            if result is not Result.REFUSED:
                return HttpResponseRedirect(after)  # nothing was done, so there is no new secret to show
            record = self.acting_on([object_id]).first()
            if record is None:  # a colleague deleted the record while the action ran
                return self._get_obj_does_not_exist_redirect(request, self.opts, str(object_id))  # type: ignore[attr-defined,no-any-return]
            why_not = action.why_not(record)
        context = {
            **self._context(request, record),
            "action": action,
            "form": form,
            "why_not": why_not,
            "typed": typed_texts(form) if why_not else [],
            "effect": "" if why_not else action.effect(record),
            "details": action.details(record) if action.details and not why_not else "",
            "about": self.about(record),
            "back": self._url(record),
            "after": after,
            "form_id": form_id or uuid4(),
        }
        return TemplateResponse(request, "admin/action.html", context)

    def _after(self, request: HttpRequest, record: object) -> str:
        """Return the URL of the redirect after the action: the previous page, or else the record's page."""
        return page_after(request) or self._url(record)

    def after_action(self, request: HttpRequest, record: Any, after: str) -> HttpResponse:
        """Return the response after a done action. Override this method to show a secret once."""
        return HttpResponseRedirect(after)

    def about(self, record: Any) -> str:
        """Return the party of the record, or an empty text if the record's name contains the party."""
        return ""

    def _context(self, request: HttpRequest, record: object) -> dict[str, object]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": record,
            "title": str(record),
        }

    def _url(self, record: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[record.pk])

    def _run(
        self,
        request: HttpRequest,
        action: AdminAction[Any],
        record: object,
        answers: dict[str, object],
        form_id: UUID | None,
    ) -> Result:
        by = operator_of(request)
        result, message = bulk_actions.record_single(action, record, by=by, answers=answers, form_id=form_id)
        messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
        return result

    # --- The list --------------------------------------------------------------------------------

    def get_actions(self, request: HttpRequest) -> dict[str, tuple[Callable[..., str], str, str] | None]:
        actions = super().get_actions(request)
        if self.has_act_permission(request):
            for action in self.all_actions:
                if action.bulk:
                    label = f"{action.label_for_many} …"
                    actions[action.name] = (partial(_choose, action), action.name, label)  # type: ignore[assignment]
        return actions


def page_after(request: HttpRequest) -> str:
    """Return the admin URL in the parameter `next`; empty for any other URL."""
    after = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(after, {request.get_host()}, request.is_secure())
    return after if is_ours and after.startswith("/admin/") else ""


def sent_form_id(sent: dict[str, str] | None) -> UUID | None:
    """Return the id of the sent form, or None: a script may send a form without an id."""
    try:
        return UUID((sent or {}).get("form_id", ""))
    except ValueError:
        return None


def _choose(
    action: AdminAction[Any], modeladmin: ActingAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse:
    return modeladmin.choose(request, action, queryset)


class ActingFormAdmin(ActingAdmin[Record]):
    """The admin of a model with Django's change form, and with buttons for actions above the form."""

    change_form_template = "admin/acting_form.html"

    def panels(self, request: HttpRequest, obj: Record | None) -> list[ShownPanel]:
        """Return the panels of a record's page. The page of a new record has no panels."""
        return [] if obj is None else panels_of(self.model, request)

    def get_readonly_fields(self, request: HttpRequest, obj: Record | None = None) -> Any:
        return (*super().get_readonly_fields(request, obj), *self.panels(request, obj))

    def get_fields(self, request: HttpRequest, obj: Record | None = None) -> Any:
        fields: list[object] = [*super().get_fields(request, obj)]
        return [*fields, *(panel for panel in self.panels(request, obj) if panel not in fields)]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        acting_on = None
        if object_id.isdecimal() and len(object_id) < 19 and self.has_act_permission(request):
            acting_on = self.acting_on([int(object_id)]).first()
        context = {
            "record_actions": [
                action for action in self.all_actions if acting_on and action.is_possible(acting_on)
            ],
            "next": page_after(request),
            **(extra_context or {}),
        }
        return super().change_view(request, object_id, form_url, context)


class RecordAdmin(ActingAdmin[Record], ReadOnlyAdmin[Record]):
    """The admin of a model that operators change only by actions. The group *Support* sees no buttons."""

    page_template: ClassVar[str]
    shows_pictures: ClassVar[bool] = False
    """Whether the page may load pictures from suppliers' hosts."""

    def page_context(self, request: HttpRequest, record: Record) -> dict[str, object]:
        """Return additional template context for the record's page."""
        return {}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        if object_id is None or not self.has_view_permission(request):
            raise PermissionDenied
        record = self.get_object(request, object_id)
        if record is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined,no-any-return]
        acting_on = self.acting_on([record.pk]).first() if self.has_act_permission(request) else None
        context = {
            **self._context(request, record),
            **self.page_context(request, record),
            "next": page_after(request),
            "record_actions": [
                action for action in self.all_actions if acting_on and action.is_possible(acting_on)
            ],
            **(extra_context or {}),
        }
        response = TemplateResponse(request, self.page_template, context)
        response.shows_pictures = self.shows_pictures  # type: ignore[attr-defined]  # PagePolicyMiddleware reads it
        return response
