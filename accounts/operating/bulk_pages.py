"""The pages of an action on many records: its preview, its progress, and the result of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import unquote

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from accounts.actors import ActorKind
from accounts.models import OperatorAction, OperatorActionRow, Result
from accounts.operating import bulk_actions, final_actions, record_panels, second_operator
from accounts.operating.admin_base import Record, operator_of
from accounts.operating.operator_actions import AdminAction
from api.exporting.cells import Cell
from api.exporting.files import as_file

SHOWN = 50
COLUMNS = ("record", "name", "result", "message")


class BulkPages(ModelAdmin[Record]):
    """A base class for admins with actions. It adds the pages for an action on many records."""

    actor_kind: ClassVar[ActorKind] = ActorKind.OPERATOR
    record_actions: ClassVar[Sequence[AdminAction[Any]]] = ()
    acts_with: ClassVar[Sequence[str | Prefetch[str]]] = ()
    """Relations that actions read. They are prefetched, so that many records need few queries."""

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Return whether this user may do actions. Other users can only read."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def acting_on(self, record_ids: Sequence[int]) -> QuerySet[Any]:
        """Return these records with the relations that actions read."""
        relations = (*self.acts_with, *record_panels.relations_of(self.model))
        return self.model._default_manager.filter(pk__in=record_ids).prefetch_related(*relations)

    @property
    def all_actions(self) -> list[AdminAction[Any]]:
        """The actions that upper apps have registered, and the actions of this admin."""
        return [*record_panels.actions_of(self.model), *self.record_actions]

    def find_action(self, name: str) -> AdminAction[Any] | None:
        return next((action for action in self.all_actions if action.name == name), None)

    def bulk_urls(self) -> list[URLPattern]:
        name, wrap = f"{self.opts.app_label}_{self.opts.model_name}_bulk", self.admin_site.admin_view
        return [
            path("bulk/<int:pk>/", wrap(self.bulk_view), name=name),
            path("bulk/<int:pk>/confirm/", wrap(require_POST(self.confirm_view)), name=f"{name}_confirm"),
            path("bulk/<int:pk>/approve/", wrap(require_POST(self.approve_view)), name=f"{name}_approve"),
            path("bulk/<int:pk>/stop/", wrap(require_POST(self.stop_view)), name=f"{name}_stop"),
            path("bulk/<int:pk>/undo/", wrap(require_POST(self.undo_view)), name=f"{name}_undo"),
            path("bulk/<int:pk>/results.csv", wrap(self.results_view), name=f"{name}_results"),
        ]

    def choose(
        self,
        request: HttpRequest,
        action: AdminAction[Any],
        subjects: QuerySet[Any],
        undoes: int | None = None,
    ) -> HttpResponse:
        """Store the chosen records, and redirect to the page with the preview."""
        across = request.POST.get("select_across") == "1"
        chosen_from = (unquote(request.GET.urlencode()) or "the whole list") if across else ""
        try:
            chosen = bulk_actions.choose(
                self, action, subjects, by=operator_of(request), chosen_from=chosen_from, undoes=undoes
            )
        except bulk_actions.TooMany:
            messages.error(
                request, f"More than {bulk_actions.MOST:,} rows are chosen. Filter the list first."
            )
            return HttpResponseRedirect(request.get_full_path())
        self._advance(chosen)
        return HttpResponseRedirect(self._bulk_url(chosen))

    def bulk_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the preview, then the progress, then the results."""
        chosen, action = self._find(request, pk)
        return self._page(request, chosen, action, self._form(chosen, action, None))

    def _form(self, chosen: OperatorAction, action: AdminAction[Any], sent: dict[str, str] | None) -> Any:
        form = action.form_for(None, sent)
        rows = chosen.counts()["possible"] if chosen.awaits_confirmation else 0
        if final_actions.is_final(action, rows):
            form.fields["rows"] = final_actions.TypedNumber(rows)
        return form

    def confirm_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Start the action, or request its approval. After AT_ONCE seconds, a worker does the rest."""
        chosen, action = self._find(request, pk, acting=True)
        form = self._form(chosen, action, request.POST.dict())
        if not form.is_valid():
            return self._page(request, chosen, action, form)
        try:
            confirmed = bulk_actions.confirm(chosen, action, form.cleaned_data, by=operator_of(request))
        except bulk_actions.NotChooser as error:
            messages.error(request, str(error))
        else:
            if confirmed and chosen.confirmed_at:
                self._advance(chosen)
        return HttpResponseRedirect(self._bulk_url(chosen))

    def approve_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Start an action of another operator, who has confirmed it."""
        chosen, action = self._find(request, pk, acting=True)
        try:
            if bulk_actions.approve(chosen, action, by=operator_of(request)):
                self._advance(chosen)
        except bulk_actions.OwnAction as error:
            messages.error(request, str(error))
        return HttpResponseRedirect(self._bulk_url(chosen))

    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        chosen, _ = self._find(request, pk, acting=True)
        bulk_actions.stop(chosen, by=operator_of(request))
        if chosen.moving:
            self._advance(chosen)
        return HttpResponseRedirect(self._bulk_url(chosen))

    def undo_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Choose the done rows for the reversing action, which needs a confirmation like any other action.

        Leave out rows that a later action, of this kind or of the reversing kind, has changed.
        """
        chosen, action = self._find(request, pk, acting=True)
        back = self.find_action(action.undone_by)
        if back is None:
            raise Http404
        done = chosen.rows.filter(result=Result.DONE)
        left = done.exclude(record_id__in=chosen.changed_since(back.name).values("record_id"))
        if not left.exists():
            why = "A later action has changed all of these records. " if done.exists() else ""
            messages.warning(request, f"{why}Nothing is left to undo.")
            return HttpResponseRedirect(self._bulk_url(chosen))
        to_undo = self.model._default_manager.filter(pk__in=left.values("record_id"))
        return self.choose(request, back, to_undo, undoes=chosen.pk)

    def results_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Return one CSV line for each row."""
        chosen, _ = self._find(request, pk)
        rows = chosen.rows.order_by("id").iterator(chunk_size=1000)
        lines: Iterator[Sequence[Cell]] = ([row.record_id, row.name, *_result(row, chosen)] for row in rows)
        return as_file(f"{chosen.action}-{chosen.pk}", COLUMNS, lines, "csv")

    def _find(
        self, request: HttpRequest, pk: int, *, acting: bool = False
    ) -> tuple[OperatorAction, AdminAction[Any]]:
        if not self.has_view_permission(request) or (acting and not self.has_act_permission(request)):
            raise PermissionDenied
        chosen = OperatorAction.objects.filter(pk=pk, model=self.opts.label_lower).first()
        action = self.find_action(chosen.action) if chosen else None
        if chosen is None or action is None:
            raise Http404
        return chosen, action

    def _amounts(self, chosen: OperatorAction, action: AdminAction[Any]) -> Sequence[tuple[Decimal, str]]:
        """Return the amounts of the possible rows, while the action waits for a confirmation or approval."""
        if action.amounts is None or not (chosen.awaits_confirmation or chosen.awaits_approval):
            return []
        return action.amounts(chosen.rows.filter(why_not="").values("record_id"))

    def _advance(self, chosen: OperatorAction) -> None:
        if not bulk_actions.advance(chosen, self, seconds=bulk_actions.AT_ONCE):
            bulk_actions.wake(chosen.pk)

    def _bulk_url(self, chosen: OperatorAction) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_bulk", args=[chosen.pk])

    def _page(
        self, request: HttpRequest, chosen: OperatorAction, action: AdminAction[Any], form: object
    ) -> HttpResponse:
        counts = chosen.counts()
        shown = chosen.rows.exclude(result="", why_not__gt="") if counts["possible"] else chosen.rows.all()
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": chosen.label,
            "chosen": chosen,
            "action": action,
            "form": form,
            "counts": counts,
            "percent": 100 * counts["tried"] // max(counts["possible"], 1),
            "left_out": chosen.why_not(),
            "rows": shown[:SHOWN],
            "shown": SHOWN,
            "may_act": self.has_act_permission(request),
            "needs_second": chosen.awaits_confirmation
            and second_operator.is_needed(chosen, action, counts["possible"]),
            "amounts": self._amounts(chosen, action),
            "seconds_left": final_actions.seconds_left(chosen),
            "wait": final_actions.WAIT.seconds,
            "is_final": final_actions.is_final(action, counts["possible"]),
            "is_chooser": operator_of(request).name == chosen.actor,
            "undone_by": self.find_action(action.undone_by) if counts["done"] else None,
            "row_url": f"admin:{self.opts.app_label}_{self.opts.model_name}_change",
        }
        return TemplateResponse(request, "admin/bulk.html", context)


def _result(row: OperatorActionRow, chosen: OperatorAction) -> tuple[str, str]:
    if row.result:
        return row.get_result_display(), row.message
    if row.why_not:
        return "left out", row.why_not
    return ("not done", "The action was stopped.") if chosen.finished_at else ("not done yet", "")
