"""The desk's page, and the notes on its rows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.apps import apps
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from api.ids import LARGEST_ID
from backoffice.desk.filter_form import DeskForm
from backoffice.desk.gathering import COUNTED, DeskPage, gather
from backoffice.desk.group_pages import groups_context
from backoffice.desk.groups import groups
from backoffice.desk.kinds import KINDS, kinds_for
from backoffice.desk.notes import NoteChange, RowTaken, change_note
from backoffice.templatetags.acting import acted_on_by

PAGE = 50
MODELS = {kind.model._meta.label_lower for kind in KINDS}


class NoteForm(forms.Form):
    """The form of a note on a row: its record, assignee, comment, and hours to snooze."""

    model = forms.ChoiceField(choices=[(name, name) for name in sorted(MODELS)])
    record_id = forms.IntegerField(min_value=1, max_value=LARGEST_ID)
    take = forms.BooleanField(required=False)
    assigned_before = forms.CharField(required=False, max_length=150)
    assigned_to = forms.CharField(required=False, max_length=150)
    text = forms.CharField(required=False, max_length=1000)
    snooze_hours = forms.IntegerField(required=False, min_value=0, max_value=24 * 90)

    def clean_assigned_to(self) -> str:
        name: str = self.cleaned_data["assigned_to"]
        is_changed = name != self.cleaned_data.get("assigned_before")  # the assignee may have left since
        if name and is_changed and not people().filter(username=name).exists():
            raise forms.ValidationError(
                f"No operator has the name {name}. Choose a name from the list.", code="unknown"
            )
        return name


def people() -> QuerySet[User]:
    """Return the operators who can take a row."""
    return User.objects.filter(is_staff=True, is_active=True).order_by("username")


def desk(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show one page of the desk."""
    form = DeskForm(request.GET)
    person = request.user.get_username()
    wanted, kinds = form.wanted(person), kinds_for(request.user)
    gathered = gather(kinds, wanted, PAGE, request.GET.get("start", ""), exact=True)
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
    if form.cleaned_data.get("by"):
        context |= groups_context(site, request, groups(kinds, wanted, form.cleaned_data.get("sort", "")))
    return TemplateResponse(request, "admin/desk.html", context)


def rows_context(request: HttpRequest, gathered: DeskPage) -> dict[str, object]:
    """Return the template context of the table, for the desk and the home page."""
    may_act = any(acted_on_by(item, request.user) for item in gathered.items)
    return {
        "gathered": gathered,
        "counted": COUNTED,
        "items": gathered.items,
        "person": request.user.get_username(),
        "people": people()[:200] if may_act else [],
        "now": timezone.now(),
        "here": request.get_full_path(),
    }


def keep_note(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Assign, snooze or comment on a row, then redirect to the page that sent the form."""
    form = NoteForm(request.POST)
    if request.method != "POST" or not form.is_valid() and {"model", "record_id"} & form.errors.keys():
        raise PermissionDenied
    given = form.cleaned_data
    model = apps.get_model(given["model"])
    if not request.user.has_perm(f"{model._meta.app_label}.change_{model._meta.model_name}"):
        raise PermissionDenied
    record = model._base_manager.filter(pk=given["record_id"]).first()
    if record is None:
        raise Http404
    if form.errors:
        _refuse(request, form, record)
    else:
        _change(request, given, record)
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return HttpResponseRedirect(back if safe and back.startswith("/admin/") else "/admin/desk/")


def _refuse(request: HttpRequest, form: NoteForm, record: Model) -> None:
    """Report the first wrong field. Save a comment all the same, because the redirect drops typed text."""
    given, saved = form.cleaned_data, "Nothing was saved."
    if comment := given.get("text"):
        change_note(record, NoteChange(comment=comment), by=request.user.get_username())
        saved = "Only your comment was saved."
    name, errors = next(iter(form.errors.items()))
    where = "" if name == "assigned_to" else f"{form[name].label}: "
    messages.error(request, f"{saved} {where}{errors[0]}")


def _change(request: HttpRequest, given: dict[str, Any], record: Model) -> None:
    by = request.user.get_username()
    is_kept = given["assigned_to"] == given["assigned_before"]
    change = NoteChange(
        assigned_to=by if given["take"] else None if is_kept else given["assigned_to"],
        assigned_before=given["assigned_before"],
        comment=given["text"],
        snooze_hours=given["snooze_hours"],
    )
    try:
        change_note(record, change, by=by)
    except RowTaken as taken:
        saved = " Your comment was saved." if change.comment else ""
        messages.error(request, f"This row is already assigned to {taken.assignee}.{saved}")
    else:
        messages.success(request, _done(change, is_taken=given["take"]))


def _done(change: NoteChange, *, is_taken: bool) -> str:
    if is_taken:
        return "Assigned to you."
    hours = change.snooze_hours
    if not hours:
        return "Note saved."
    return f"Snoozed for {hours} hour{pluralize(hours)}."
