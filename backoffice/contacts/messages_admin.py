"""The admin page of a message to a contact, or of a contact's answer. The desk links to unread answers."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from accounts.actors import Actor
from accounts.models import ContactMessage, member_names
from accounts.operating import contact_messages
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.operator_actions import AdminAction, NothingChanged
from backoffice.contacts.concerned import name_of
from backoffice.contacts.forms import SeenForm
from events.models import ACCOUNTS
from events.recording import record

LONGEST = 200
READ = "An operator has read this answer."


def _read_form(answer: ContactMessage, sent: dict[str, object] | None) -> SeenForm:
    newest = contact_messages.newest_about(answer.model, answer.record_id)
    return SeenForm(sent, initial={"newest": newest})


def _read(answer: ContactMessage, by: Actor, answers: dict[str, Any]) -> str:
    count = contact_messages.mark_read(answer, newest=answers.get("newest"))
    if not count:
        raise NothingChanged(READ)
    data = {"answers": count, "about": f"{answer.model.partition('.')[2]} {answer.record_id}"}
    party = answer.contact.party if answer.contact else None
    of_party = {party.role.value: party} if party else {}
    record("contact_message.read", by=by, area=ACCOUNTS, data=data, **of_party)
    return "The answer is marked as read." if count == 1 else f"{count} answers are marked as read."


def _not_unread(message: ContactMessage) -> str:
    if not message.is_answer or not contact_messages.is_from_portal(message):
        return "No member wrote this message."
    return READ if message.done_at else ""


@admin.register(ContactMessage)
class ContactMessageAdmin(RecordAdmin[ContactMessage]):
    page_template = "admin/accounts/contactmessage/page.html"
    list_display = ("__str__", "contact", "is_answer", "created_at", "done_at")
    list_select_related = ("contact__supplier", "contact__retailer")
    list_filter = ("is_answer",)
    acts_with = ("contact__supplier", "contact__retailer")
    record_actions = (
        AdminAction[ContactMessage](
            "read",
            "Mark as read",
            _read,
            _not_unread,
            lambda answer: "All answers of the same party about this record leave the desk.",
            form=_read_form,
            help_text="Nothing is sent to the party.",
            undo="The answers stay in the timeline of the record.",
            bulk=True,
        ),
    )

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_contactmessage")

    def page_context(self, request: HttpRequest, record: ContactMessage) -> dict[str, object]:
        """Return the thread of the message, oldest first, and the record that the thread is about.

        A thread has all messages to one party about one record, and all answers of the party.
        """
        about, url_name = _record_of(record), record.model.replace(".", "_")
        thread = ContactMessage.objects.in_thread(record).select_related("contact").order_by("-id")
        shown = list(thread[:LONGEST])[::-1]
        members = member_names({message.by for message in shown})
        return {
            "about": about,
            "about_url": reverse(f"admin:{url_name}_change", args=[about.pk]) if about else "",
            "about_name": name_of(about) if about else "a deleted record",
            "thread": [(message, members.get(message.by, message.by)) for message in shown],
        }


def _record_of(message: ContactMessage) -> Model | None:
    model: type[Model] = apps.get_model(message.model)
    return model._default_manager.filter(pk=message.record_id).first()
