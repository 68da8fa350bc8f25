"""The form of a message to a contact, and the form of the contact's answer."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms
from django.db.models import Model

from accounts.models import Contact, ContactMessage
from api.ids import LARGEST_ID
from backoffice.contacts.concerned import contacts_of

SENT_DIFFERENTLY = "This form was already sent with other content. To send this content, too, send it again."


class SeenForm(forms.Form):
    """A form with the newest message that its page showed, so that later answers stay unread."""

    newest = forms.IntegerField(required=False, max_value=LARGEST_ID, widget=forms.HiddenInput)


class AnswerForm(forms.Form):
    """The form of an answer that a contact gave, by mail or by telephone."""

    contact = forms.ModelChoiceField(Contact.objects.none(), empty_label=None)
    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 5}), label="Answer")
    form_id = forms.UUIDField(widget=forms.HiddenInput)
    stored_fields: tuple[str, ...] = ("contact", "text")

    def __init__(self, record: Model, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["contact"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = contacts_of(record)

    def clean(self) -> dict[str, object]:
        """Refuse a form that was sent before with other content, and let it be sent again as a new form."""
        given, form_id = self.cleaned_data, self.cleaned_data.get("form_id")
        stored = ContactMessage.objects.filter(form_id=form_id).first() if form_id else None
        if stored and any(getattr(stored, name) != given.get(name) for name in self.stored_fields):
            self.data = {**dict(self.data.items()), "form_id": str(uuid4())}
            raise forms.ValidationError(SENT_DIFFERENTLY, code="sent_differently")
        return given


class ContactMessageForm(SeenForm, AnswerForm):
    """The form of a message to a contact with a mail address."""

    subject = forms.CharField(max_length=200)
    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 10}), label="Message")
    field_order = ("contact", "subject", "text")
    stored_fields = (*AnswerForm.stored_fields, "subject")

    def clean_subject(self) -> str:
        return " ".join(self.cleaned_data["subject"].split())

    def clean_contact(self) -> Contact:
        contact: Contact = self.cleaned_data["contact"]
        if not contact.email:
            raise forms.ValidationError(
                f"{contact.name} has no mail address. Add one on the page of {contact.party}.", code="no_mail"
            )
        return contact
