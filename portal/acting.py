"""The page of a member's action: a preview and a form. If a form is sent twice, the action is done once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import Result
from accounts.operating import bulk_actions
from accounts.operating.admin_actions import LEVELS, sent_form_id
from accounts.operating.operator_actions import STALE, AdminAction, is_stale, typed_texts
from portal.pages import PortalRecordPage
from portal.visitors import PATH


class PortalActionPage(PortalRecordPage):
    """The page of an action on a record. It uses the same mechanism as the actions of operators."""

    template = "portal/action.html"
    actions: ClassVar[Sequence[AdminAction[Any]]]
    is_secret = True
    """Only members with the right see the page, because other members could not send its form."""
    action: AdminAction[Any]

    def find(self, pk: int = 0, action: str = "", **kwargs: Any) -> None:
        super().find(pk=pk)
        found = [each for each in self.actions if each.name == action]
        if not found:
            raise Http404
        self.action = found[0]

    def back(self) -> str:
        """Return the URL of the record's page."""
        raise NotImplementedError

    def record_name(self) -> str:
        """Return the record's name for the link that leads back to the record's page."""
        return str(self.record)

    def get(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        return self._show(self.action.form_for(self.record, None), None)

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        sent = request.POST.dict()
        form_id = sent_form_id(sent)
        if first := bulk_actions.was_sent(form_id):
            messages.warning(request, first)
            return HttpResponseRedirect(self._after())
        form = self.action.form_for(self.record, sent)
        if self.action.why_not(self.record) or not form.is_valid():
            return self._show(form, form_id)
        if is_stale(self.action, self.record, sent):
            messages.warning(request, STALE)
            return self._show(form, form_id)
        result, message = bulk_actions.record_single(
            self.action, self.record, by=self.actor, answers=form.cleaned_data, form_id=form_id
        )
        messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
        if result is Result.REFUSED:
            self.find(pk=self.record.pk, action=self.action.name)
            return self._show(form, uuid4())
        # The second of two forms that are sent at once changes nothing, so its secret does not exist.
        return self.after_action() if result is Result.DONE else HttpResponseRedirect(self._after())

    def after_action(self) -> HttpResponse:
        """Return the response after a successful action. Override this method to show a secret once."""
        return HttpResponseRedirect(self._after())

    def _after(self) -> str:
        """Return the URL in the parameter `next` if it is in the portal, else the record's page."""
        request = self.request
        after = request.POST.get("next") or request.GET.get("next") or ""
        is_ours = url_has_allowed_host_and_scheme(after, {request.get_host()}, request.is_secure())
        return after if is_ours and after.startswith(PATH) else self.back()

    def _show(self, form: forms.Form, form_id: UUID | None) -> HttpResponse:
        why_not = self.action.why_not(self.record)
        context = {
            "title": self.action.label,
            "record_name": self.record_name(),
            "action": self.action,
            "form": form,
            "why_not": why_not,
            "typed": typed_texts(form) if why_not else [],
            "effect": "" if why_not else self.action.effect(self.record),
            "details": self.action.details(self.record) if self.action.details and not why_not else "",
            "form_id": form_id or uuid4(),
            "back": self.back(),
            "after": self._after(),
        }
        return self.render({**context, **self.context()})
