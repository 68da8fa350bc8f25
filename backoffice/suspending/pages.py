"""The pages on which operators suspend somebody, and let them trade again."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Partnership, Retailer, Suspension
from accounts.operating.admin_base import Record, operator_of
from api.errors import ApiError
from backoffice.suspending.meaning import meaning_of
from backoffice.suspending.services import Subject, in_force_for, resume, suspend
from events.admin_base import RecordedAdmin
from fulfillments.models import Fulfillment
from fulfillments.states import WORKABLE, State

SHOWN = 5


class SuspendForm(forms.Form):
    """Why, and until when."""

    reason = forms.CharField(max_length=500, help_text="Kept in the history; partners are not given it.")
    until = forms.DateField(
        required=False,
        label="Trades again on",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="By itself, when that day begins (UTC). Empty: when somebody resumes it.",
    )

    open_work = forms.ChoiceField(
        required=False,
        choices=[
            ("", "goes on there"),
            (State.NEW.value, "what is new is sent elsewhere"),
            ("all", "all that is open is sent elsewhere"),
        ],
        help_text="The next page says what can go to another supplier; nothing moves before you confirm it.",
    )

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if until is not None and until <= timezone.now().date():
            raise forms.ValidationError("Must be a day to come.")
        return until


class SuspendableAdmin(RecordedAdmin[Record]):
    """A form's page that says whether its record is suspended, with the buttons for that."""

    change_form_template = "admin/accounts/suspendable.html"

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path(
                "<int:object_id>/suspend/",
                self.admin_site.admin_view(self.suspend_view),
                name=f"{name}_suspend",
            ),
            path(
                "<int:object_id>/resume/", self.admin_site.admin_view(self.resume_view), name=f"{name}_resume"
            ),
            *super().get_urls(),
        ]

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        if obj is not None:
            context |= suspension_context(obj)
            context["may_suspend"] = self.has_change_permission(request, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def suspend_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask why and until when, showing what it means; then do it."""
        subject = self._subject(request, object_id)
        form = SuspendForm(request.POST or None)
        may_send = request.user.has_perm("fulfillments.change_fulfillment")
        if isinstance(subject, Retailer) or not may_send:
            del form.fields["open_work"]
        if request.method == "POST" and form.is_valid():
            answers = dict(form.cleaned_data)
            which = answers.pop("open_work", "")
            done = self._answer(request, subject, answers, by=operator_of(request))
            if done and which:
                return self._send_elsewhere(request, subject, which)
            return HttpResponseRedirect(self._page(subject))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": subject,
            "title": f"Suspend {subject}",
            "form": form,
            "meaning": meaning_of(subject),
            "is_retailer": isinstance(subject, Retailer),
            "back": self._page(subject),
        }
        return TemplateResponse(request, "admin/accounts/suspend.html", context)

    def resume_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        subject = self._subject(request, object_id)
        if request.method == "POST":
            suspension = in_force_for(subject)
            if suspension is not None and resume(suspension, by=operator_of(request)):
                messages.success(request, f"{subject} trades again.")
            else:
                messages.warning(request, f"{subject} was not suspended; nothing was changed.")
        return HttpResponseRedirect(self._page(subject))

    def _answer(self, request: HttpRequest, subject: Subject, answers: dict[str, Any], *, by: Actor) -> bool:
        try:
            suspension = suspend(subject, by=by, **answers)
        except ApiError as error:
            messages.error(request, error.message)
            return False
        messages.success(request, f"{_until(suspension)} Its page says how to undo it.")
        return True

    def _send_elsewhere(self, request: HttpRequest, subject: Subject, which: str) -> HttpResponse:
        """To the page on which that is looked at and confirmed, as from the list of fulfillments."""
        acting: Any = self.admin_site.get_model_admin(Fulfillment)
        states = [State.NEW] if which == State.NEW else [*WORKABLE]
        name = "partnership" if isinstance(subject, Partnership) else "supplier"
        work = Fulfillment.objects.filter(**{name: subject}, state__in=states)
        return cast(HttpResponse, acting.choose(request, acting.find_action("withdraw"), work))

    def _subject(self, request: HttpRequest, object_id: int) -> Any:
        subject = self.get_object(request, str(object_id))
        if subject is None:
            raise Http404
        if not self.has_change_permission(request, subject):
            raise PermissionDenied
        return subject

    def _page(self, subject: Subject) -> str:
        name = self.opts.model_name
        view = "change" if isinstance(subject, Partnership) else "overview"
        return reverse(f"admin:accounts_{name}_{view}", args=[subject.pk])


def suspension_context(subject: Subject) -> dict[str, Any]:
    """What a page says of a record's suspensions."""
    history = list(Suspension.objects.about(subject)[:SHOWN])
    name = subject._meta.model_name
    return {
        "suspension": next((each for each in history if each.ended_at is None), None),
        "suspensions": [each for each in history if each.ended_at is not None],
        "suspend_url": reverse(f"admin:accounts_{name}_suspend", args=[subject.pk]),
        "resume_url": reverse(f"admin:accounts_{name}_resume", args=[subject.pk]),
    }


def _until(suspension: Suspension) -> str:
    if suspension.until is None:
        return f"{suspension.subject} is suspended until somebody resumes it."
    return f"{suspension.subject} is suspended, and trades again on {suspension.until:%-d %b %Y}."
