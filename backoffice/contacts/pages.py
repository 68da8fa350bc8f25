"""The page of a record's messages: write to a contact, and record the contact's answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from accounts.models import ContactMessage, member_names
from accounts.operating import contact_messages
from accounts.operating.admin_actions import page_after
from accounts.operating.remarks import RecordKey, Remark
from api.ids import as_id
from backoffice.comments import record_to_change
from backoffice.contacts import sending
from backoffice.contacts.concerned import PARTIES, contacts_of, name_of, parties_of
from backoffice.contacts.forms import AnswerForm, ContactMessageForm
from backoffice.models import MessageTemplate

LONGEST = 1_000
ANSWER = "answer"


def messages_page(
    site: AdminSite, request: HttpRequest, app_label: str, model_name: str, pk: int
) -> HttpResponse:
    """Show the form of a message and the form of an answer. On POST, store the sent form."""
    record = record_to_change(site, request, app_label, model_name, pk)
    if type(record) not in PARTIES:
        raise Http404
    sent = request.POST if request.method == "POST" else None
    is_answer = ANSWER in request.GET
    kind = AnswerForm if is_answer else ContactMessageForm
    form = kind(record, sent, initial=_initial(request, record, is_answer=is_answer))
    own_page = reverse(f"admin:{app_label}_{model_name}_change", args=[pk])
    after = page_after(request) or own_page
    if sent is not None and form.is_valid():
        messages.success(request, _store(record, form.cleaned_data, request.user.get_username(), is_answer))
        return HttpResponseRedirect(after)
    context = {
        **site.each_context(request),
        "title": "Record answer" if is_answer else "Message",
        "original": record,
        "name": str(record),
        "form": form,
        "is_answer": is_answer,
        "contacts": contacts_of(record),
        "parties": parties_of(record),
        "templates": MessageTemplate.objects.all(),
        "sends_mail": sending.sends_mail(),
        "mail_link": _mail_link(form),
        "after": after,
        "own_page": own_page,
    }
    return TemplateResponse(request, "admin/contacts/message.html", context)


def _initial(request: HttpRequest, record: Model, *, is_answer: bool) -> dict[str, object]:
    """Return the initial values of the form.

    The texts of a message come from the chosen template, or else from the first template.
    """
    contact = contacts_of(record).first()
    initial: dict[str, object] = {"form_id": uuid4(), "contact": contact and contact.pk}
    number = request.GET.get("template", "")
    template = MessageTemplate.objects.filter(pk=as_id(number)).first()
    template = template or MessageTemplate.objects.first()
    if is_answer:
        return initial
    initial["newest"] = contact_messages.newest_about(record._meta.label_lower, record.pk)
    if template is None:
        return initial
    values = {
        "contact": contact.name if contact else "",
        "party": str(contact.party) if contact else "",
        "record": name_of(record),
        "problem": request.GET.get("problem", "")[:300],
    }
    initial["subject"], initial["text"] = template.filled(values)
    return initial


def _mail_link(form: AnswerForm) -> str:
    subject, text = form["subject"].value() if "subject" in form.fields else "", form["text"].value()
    return f"mailto:?subject={quote(subject or '')}&body={quote(text or '')}"


def _store(record: Model, given: dict[str, Any], by: str, is_answer: bool) -> str:
    """Store a message or an answer, and return the confirmation to show.

    A form that is sent twice is stored once.
    """
    mailed = not is_answer and sending.sends_mail()
    now = timezone.now()
    message, is_new = ContactMessage.objects.get_or_create(
        form_id=given["form_id"],
        defaults={
            "model": record._meta.label_lower,
            "record_id": record.pk,
            "contact": given["contact"],
            "is_answer": is_answer,
            "subject": given.get("subject", ""),
            "text": given["text"],
            "by": by,
            "next_try_at": now if mailed else None,
        },
    )
    if is_new and mailed:
        sending.wake(message.pk)
    if is_new and is_answer:
        contact_messages.close(message)
    elif is_new:
        contact_messages.mark_read(message, newest=given["newest"])
    name = given["contact"].name
    if is_answer:
        return f"The answer of {name} is recorded."
    return f"The message to {name} is being sent." if mailed else f"The message to {name} is recorded."


def message_remarks(subjects: Collection[RecordKey]) -> Iterator[Remark]:
    """Yield the messages and answers about these records, newest first."""
    found = ContactMessage.objects.filter(
        model__in={model for model, _ in subjects}, record_id__in={pk for _, pk in subjects}
    ).select_related("contact__supplier", "contact__retailer")
    newest = list(found.order_by("-id")[:LONGEST])
    members = member_names({each.by for each in newest})
    for each in newest:
        about, by = (each.model, each.record_id), members.get(each.by, each.by)
        if about in subjects:
            yield Remark(about, each.created_at, _title(each), by, each.text, tuple(_details(each)))


def _title(message: ContactMessage) -> str:
    contact = message.contact or "a deleted contact"
    if message.is_answer and contact_messages.is_from_portal(message):
        return f"Answer in the portal to the message to {contact}"
    return f"Answer of {contact}" if message.is_answer else f"Message to {contact}"


def _details(message: ContactMessage) -> Iterator[tuple[str, str]]:
    if message.subject:
        yield "subject", message.subject
    if message.is_answer:
        return
    if message.sent_at:
        yield "mail", f"sent {message.sent_at:%-d %b %Y, %H:%M} UTC"
    elif message.next_try_at:
        yield "mail", f"not sent yet{f': {message.error}' if message.error else ''}"
    else:
        yield "mail", message.error or "sent by the operator"
