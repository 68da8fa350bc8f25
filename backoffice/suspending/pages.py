"""Pages that suspend a party or a partnership, and resume its trade."""

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
from backoffice.suspending.impact import impact_of
from backoffice.suspending.services import Subject, in_force_for, resume, suspend
from events.admin_base import RecordedAdmin
from fulfillments.models import Fulfillment
from fulfillments.states import WORKABLE, State

SHOWN = 5


class SuspendForm(forms.Form):
    """The form of a suspension: reasons, the day on which trade resumes, and reassignment of open work."""

    reason = forms.CharField(max_length=500, help_text="Shown in the history, but not to partners.")
    shown_reason = forms.CharField(
        max_length=300,
        required=False,
        label="Reason for the party",
        help_text="Members of the party read it in their portal, with the day on which trade resumes.",
    )
    until = forms.DateField(
        required=False,
        label="Resume trading on",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Trade resumes automatically when this day begins (UTC). Leave empty to resume it by hand.",
    )

    open_work = forms.ChoiceField(
        required=False,
        choices=[
            ("", "stays with the supplier"),
            (State.NEW.value, "reassign new fulfillments"),
            ("all", "reassign all open fulfillments"),
        ],
        help_text="The next page previews which fulfillments other suppliers can take, before you confirm.",
    )

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if until is not None and until <= timezone.now().date():
            raise forms.ValidationError("This day has passed or is today. Enter a later day.")
        return until


class SuspendableAdmin(RecordedAdmin[Record]):
    """An admin whose form shows the record's suspension, with pages to suspend and to resume its trade."""

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
        context: dict[str, object],
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
        """Show the impact and the form. When the form is sent, suspend the record.

        If the operator chose to reassign open work, redirect to the preview of the reassignment.
        """
        subject = self._subject(request, object_id)
        form = SuspendForm(request.POST or None)
        may_reassign = request.user.has_perm("fulfillments.change_fulfillment")
        if isinstance(subject, Retailer) or not may_reassign:
            del form.fields["open_work"]
        if isinstance(subject, Partnership):
            del form.fields["shown_reason"]
        if request.method == "POST" and form.is_valid():
            answers = dict(form.cleaned_data)
            reassigned = answers.pop("open_work", "")
            done = self._suspend(request, subject, answers, by=operator_of(request))
            if done and reassigned:
                return self._reassign(request, subject, reassigned)
            return HttpResponseRedirect(self._subject_page(subject))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": subject,
            "title": f"Suspend {subject}",
            "form": form,
            "impact": impact_of(subject),
            "is_retailer": isinstance(subject, Retailer),
            "back": self._subject_page(subject),
        }
        return TemplateResponse(request, "admin/accounts/suspend.html", context)

    def resume_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        subject = self._subject(request, object_id)
        if request.method == "POST":
            suspension = in_force_for(subject)
            if suspension is not None and resume(suspension, by=operator_of(request)):
                messages.success(request, f"{subject} trades again.")
            else:
                messages.warning(request, f"{subject} is not suspended, so nothing was changed.")
        return HttpResponseRedirect(self._subject_page(subject))

    def _suspend(self, request: HttpRequest, subject: Subject, answers: dict[str, Any], *, by: Actor) -> bool:
        try:
            suspension = suspend(subject, by=by, **answers)
        except ApiError as error:
            messages.error(request, error.message)
            return False
        messages.success(request, f"{_until(suspension)} Press Resume trading on its page to undo this.")
        return True

    def _reassign(self, request: HttpRequest, subject: Subject, chosen: str) -> HttpResponse:
        """Redirect to the preview of the bulk action that reassigns the subject's fulfillments."""
        acting: Any = self.admin_site.get_model_admin(Fulfillment)
        states = [State.NEW] if chosen == State.NEW else [*WORKABLE]
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

    def _subject_page(self, subject: Subject) -> str:
        name = self.opts.model_name
        view = "change" if isinstance(subject, Partnership) else "overview"
        return reverse(f"admin:accounts_{name}_{view}", args=[subject.pk])


def suspension_context(subject: Subject) -> dict[str, object]:
    """Return the template context of a record's current and past suspensions."""
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
        return f"{suspension.subject} is suspended until an operator resumes it."
    return f"{suspension.subject} is suspended. Trade resumes on {suspension.until:%-d %b %Y}."
