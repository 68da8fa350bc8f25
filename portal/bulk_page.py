"""The page of an action on many records of a party: its preview, its progress, and the result of each row."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.actors import Actor
from accounts.models import Member, OperatorAction
from accounts.operating import bulk_actions
from accounts.operating.acting import Acting
from accounts.operating.operator_actions import AdminAction
from portal.pages import PortalRecordPage

SHOWN = 100


def choose_many(acting: Acting, name: str, subjects: QuerySet[Any], *, by: Actor) -> OperatorAction | None:
    """Store the chosen records, and check as many as a short time allows. A worker checks the others.

    Return None for an unknown action. Raises TooMany.
    """
    action = acting.find_action(name)
    if action is None:
        return None
    chosen = bulk_actions.choose(acting, action, subjects, by=by)
    advance(chosen, acting)
    return chosen


def advance(chosen: OperatorAction, acting: Acting) -> None:
    if not bulk_actions.advance(chosen, acting, seconds=bulk_actions.AT_ONCE):
        bulk_actions.wake(chosen.pk)


class PortalBulkPage(PortalRecordPage):
    """The page of an action on many records.

    The member who chose the records confirms or drops the action. All members of the party see the results.
    """

    template = "portal/bulk.html"
    acting: ClassVar[Acting]
    record: OperatorAction

    def of_party(self) -> QuerySet[Any]:
        """Return the actions of the party's members, including removed members."""
        members = Member.objects.of_party(self.party)
        label = self.acting.model._meta.label_lower
        return OperatorAction.objects.filter(model=label, actor__in=[each.actor_name for each in members])

    def list_url(self) -> str:
        """Return the URL of the list from which the records were chosen."""
        raise NotImplementedError

    def record_url_name(self) -> str:
        """Return the name of the URL of a record's page."""
        raise NotImplementedError

    def names(self, record_ids: list[int]) -> dict[int, str]:
        """Return the shown names of these records by their ids."""
        raise NotImplementedError

    @property
    def action(self) -> AdminAction[Any] | None:
        return self.acting.find_action(self.record.action)

    def context(self) -> dict[str, object]:
        chosen = self.record
        counts = chosen.counts()
        rows = list(chosen.rows.order_by("why_not", "id")[:SHOWN])
        names = self.names([row.record_id for row in rows])
        return {
            "title": chosen.label,
            "chosen": chosen,
            "action": self.action,
            "counts": counts,
            "percent": 100 * counts["tried"] // max(counts["possible"], 1),
            "left_out": chosen.why_not(),
            "rows": [(row, names.get(row.record_id, row.record_id)) for row in rows],
            "section": self.section,
            "is_chooser": chosen.actor == self.actor.name,
            "list_url": self.list_url(),
            "record_url": self.record_url_name(),
        }

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        """Start the action, or drop it. A second click changes nothing."""
        chosen, action = self.record, self.action
        if chosen.actor != self.actor.name:
            messages.error(request, "A colleague chose these records. Choose them again yourself.")
        elif "drop" in request.POST:
            bulk_actions.stop(chosen, by=self.actor)
            return HttpResponseRedirect(self.list_url())
        elif action and bulk_actions.confirm(chosen, action, {}, by=self.actor) and chosen.confirmed_at:
            advance(chosen, self.acting)
        return HttpResponseRedirect(request.path)
