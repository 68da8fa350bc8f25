"""Queries of a party's team: members, open invitations, and the log of the team's changes."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Invitation, Member, Retailer, Supplier, member_names
from events.models import ACCOUNTS, Event
from events.timeline import TimelineEntry, entries

SHOWN = 100


@dataclass(frozen=True)
class TeamLogEntry:
    """An entry of the log, with the name of its author."""

    entry: TimelineEntry
    by: str

    @property
    def details(self) -> str:
        shown = (f"{name}: {text}" for name, text in self.entry.details if name != "member id")
        return ", ".join(shown)


def team(party: Supplier | Retailer) -> QuerySet[Member]:
    return Member.objects.active().of_party(party).select_related("user", "supplier", "retailer")


def open_invitations(party: Supplier | Retailer) -> QuerySet[Invitation]:
    invitations = Invitation.objects.of_party(party).usable(at=timezone.now())
    return invitations.select_related("supplier", "retailer")


def team_log(party: Supplier | Retailer) -> list[TeamLogEntry]:
    """Return the newest changes of the team, and the visits of operators."""
    own = Event.objects.filter(**{party.role.value: party}, area=ACCOUNTS, type__startswith="member.")
    events = list(own.order_by("-id")[:SHOWN])
    names = member_names({event.actor for event in events})
    return [TeamLogEntry(entry, _named(entry.event.actor, names)) for entry in entries(events)]


def _named(actor: str, names: dict[str, str]) -> str:
    """Return the author's name for members, who do not see the names of operators."""
    return names.get(actor, "an operator" if actor.startswith("user:") else "the service")
