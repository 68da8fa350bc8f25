"""The desk's page, and the notes on its rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import OperatorNote, Supplier
from accounts.operating.admin_base import operator_of
from backoffice.desk.gathering import WINDOW, DeskFilter, DeskPage, gather
from backoffice.desk.kinds import KINDS, kinds_for

PAGE = 50
TAKEN = [("", "all"), ("mine", "mine"), ("free", "unassigned"), ("snoozed", "snoozed")]
MODELS = {kind.model._meta.label_lower for kind in KINDS}


class DeskForm(forms.Form):
    """The filters of the desk."""

    kind = forms.ChoiceField(
        required=False, choices=[("", "all"), *((kind.name, kind.title) for kind in KINDS)]
    )
    supplier = forms.ModelChoiceField(Supplier.objects.order_by("name"), required=False, empty_label="all")
    hours = forms.IntegerField(required=False, min_value=1, max_value=100_000, label="Older than (hours)")
    taken = forms.ChoiceField(required=False, choices=TAKEN, label="Assigned to")

    def wanted(self, person: str) -> DeskFilter:
        """Return the filters. Invalid fields are ignored."""
        self.full_clean()
        given: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if value}
        if "supplier" in given:
            given["supplier"] = given["supplier"].pk
        return DeskFilter(**given, person=person)


class NoteForm(forms.Form):
    """The form of a note on a row: its record, assignee, text, and hours to snooze."""

    model = forms.ChoiceField(choices=[(name, name) for name in sorted(MODELS)])
    record_id = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    assigned_to = forms.CharField(required=False, max_length=150)
    text = forms.CharField(required=False, max_length=1000)
    snooze_hours = forms.IntegerField(required=False, min_value=0, max_value=24 * 90)

    def clean_assigned_to(self) -> str:
        name: str = self.cleaned_data["assigned_to"]
        if name and not people().filter(username=name).exists():
            raise forms.ValidationError(
                f"No operator has the name {name}. Choose a name from the list.", code="unknown"
            )
        return name


def people() -> QuerySet[User]:
    """Return the operators who can take a row."""
    return User.objects.filter(is_staff=True, is_active=True).order_by("username")


def desk(site: Any, request: HttpRequest) -> HttpResponse:
    """Show one page of the desk."""
    form = DeskForm(request.GET)
    person = request.user.get_username()
    gathered = gather(kinds_for(request.user), form.wanted(person), PAGE, request.GET.get("start", ""))
    query = request.GET.copy()
    query.pop("start", None)
    narrowed = query.copy()
    narrowed.pop("kind", None)
    context = {
        **site.each_context(request),
        "title": "Desk",
        "form": form,
        **rows_context(request, gathered),
        "more": f"?{query.urlencode()}&start={gathered.more}" if gathered.more else "",
        "first": f"?{query.urlencode()}" if "start" in request.GET else "",
        "narrowed": narrowed.urlencode(),
    }
    return TemplateResponse(request, "admin/desk.html", context)


def rows_context(request: HttpRequest, gathered: DeskPage) -> dict[str, Any]:
    """Return the template context of the table, for the desk and the home page."""
    may_act = request.user.has_perm("orders.change_order")
    return {
        "gathered": gathered,
        "counted": WINDOW,
        "items": gathered.items,
        "person": request.user.get_username(),
        "people": people()[:200] if may_act and gathered.items else [],
        "now": timezone.now(),
        "here": request.get_full_path(),
        "may_act": may_act,
    }


def keep_note(site: Any, request: HttpRequest) -> HttpResponse:
    """Assign a row, write a note on it, or snooze it."""
    form = NoteForm(request.POST)
    if request.method != "POST" or not form.is_valid() and form.errors.keys() - {"assigned_to"}:
        raise PermissionDenied
    given = form.cleaned_data
    model = apps.get_model(given["model"])
    if not request.user.has_perm(f"{model._meta.app_label}.change_{model._meta.model_name}"):
        raise PermissionDenied
    if form.errors:
        messages.error(request, str(form.errors["assigned_to"][0]))
    else:
        _keep(given, by=operator_of(request).name)
        hours = given["snooze_hours"]
        messages.success(request, f"Snoozed for {hours} hours." if hours else "Note saved.")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return HttpResponseRedirect(back if safe and back.startswith("/admin/") else "/admin/desk/")


def _keep(given: dict[str, Any], *, by: str) -> None:
    hours = given["snooze_hours"]
    OperatorNote.objects.update_or_create(
        model=given["model"],
        record_id=given["record_id"],
        defaults={
            "assigned_to": given["assigned_to"],
            "text": given["text"],
            "snoozed_until": timezone.now() + timedelta(hours=hours) if hours else None,
            "by": by,
            "updated_at": timezone.now(),
        },
    )
