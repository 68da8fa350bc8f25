"""The pages of the messages that operators wrote to the people of a party."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import ContactMessage, Retailer, Supplier
from accounts.operating.contact_messages import is_from_portal
from portal.acting import PortalActionPage
from portal.buckets import MOST_COUNTED, WorkBucket
from portal.history import actor_names
from portal.list_pages import MOMENT, ListColumn, PortalListPage
from portal.listing import Tabs
from portal.messages.about import page_about
from portal.messages.actions import ACTIONS
from portal.pages import PortalRecordPage

Party = Supplier | Retailer
OPEN = Q(done_at=None)
TABS: Tabs = {"open": ("Open", OPEN), "all": ("All", Q())}
CELLS = "portal/messages/cells"
LONGEST = 200


def messages_to(party: Party) -> QuerySet[ContactMessage]:
    """Return the operators' messages to the party. Answers are shown with their message."""
    own = ContactMessage.objects.of_party(party).filter(is_answer=False)
    return own.select_related("contact__supplier", "contact__retailer")


def open_messages(party: Party) -> WorkBucket:
    """Return the messages that the party has neither answered nor marked as done, for *Today*."""
    ids = messages_to(party).filter(OPEN).order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]
    url = reverse("portal:messages")
    return WorkBucket("Messages from operators", [*ids], url, "Answer messages", color="warn")


def _contact(message: ContactMessage) -> str:
    return message.contact.name if message.contact else ""


def _state(message: ContactMessage) -> str:
    return "done" if message.done_at else "open"


class MessagesPage(PortalListPage):
    """The messages of operators to the party, newest first."""

    template = "portal/messages/list.html"
    section = title = "Messages"
    right = Right.MESSAGES
    hint = "Words of the subject or the text"
    columns = (
        ListColumn("subject", "Subject", str, f"{CELLS}/subject.html"),
        ListColumn("contact", "To", _contact),
        ListColumn("state", "State", _state, f"{CELLS}/state.html"),
        ListColumn("sent", "Sent", attrgetter("created_at"), MOMENT),
        ListColumn("text", "Text", attrgetter("text"), is_usual=False),
    )

    def listed(self) -> QuerySet[Any]:
        return messages_to(self.party)

    def tabs(self) -> Tabs:
        return TABS

    def search(self, term: str) -> Q:
        return Q(subject__icontains=term) | Q(text__icontains=term)


class MessagePage(PortalRecordPage):
    """One message with its answers, and the record that it is about."""

    template = "portal/messages/message.html"
    section = "Messages"
    right = Right.MESSAGES
    record: ContactMessage

    def of_party(self) -> QuerySet[Any]:
        return messages_to(self.party)

    def context(self) -> dict[str, Any]:
        thread = ContactMessage.objects.of_party(self.party).in_thread(self.record)
        shown = list(thread.select_related("contact").order_by("-id")[:LONGEST])
        names = actor_names(self.party, {each.by for each in shown if is_from_portal(each)})
        return {
            "title": str(self.record),
            "message": self.record,
            "page_about": page_about(self.record, self.party),
            "thread": [(each, _author(each, names)) for each in reversed(shown)],
            "actions": [each for each in ACTIONS if each.is_possible(self.record)] if self.may_change else [],
        }


def _author(message: ContactMessage, names: dict[str, str]) -> str:
    """Return the author's name for members, who do not see the names of operators."""
    if is_from_portal(message):
        return names[message.by]
    return _contact(message) if message.is_answer else "an operator"


class MessageActionPage(PortalActionPage):
    """The page of an action that answers a message or marks it as done."""

    section = "Messages"
    right = Right.MESSAGES
    actions = ACTIONS

    def of_party(self) -> QuerySet[ContactMessage]:
        return messages_to(self.party)

    def back(self) -> str:
        return reverse("portal:message", args=[self.record.pk])
