"""The form of a message to a contact, and the form of the contact's answer."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Model

from accounts.models import Contact
from api.ids import LARGEST_ID
from backoffice.contacts.concerned import contacts_of


class SeenForm(forms.Form):
    """A form with the newest message that its page showed, so that later answers stay unread."""

    newest = forms.IntegerField(required=False, max_value=LARGEST_ID, widget=forms.HiddenInput)


class AnswerForm(forms.Form):
    """The form of an answer that a contact gave, by mail or by telephone."""

    contact = forms.ModelChoiceField(Contact.objects.none(), empty_label=None)
    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 5}), label="Answer")
    form_id = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, record: Model, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["contact"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = contacts_of(record)


class ContactMessageForm(SeenForm, AnswerForm):
    """The form of a message to a contact with a mail address."""

    subject = forms.CharField(max_length=200)
    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 10}), label="Message")
    field_order = ("contact", "subject", "text")

    def clean_subject(self) -> str:
        return " ".join(self.cleaned_data["subject"].split())

    def clean_contact(self) -> Contact:
        contact: Contact = self.cleaned_data["contact"]
        if not contact.email:
            raise forms.ValidationError(
                f"{contact.name} has no mail address. Add one on the page of {contact.party}.", code="no_mail"
            )
        return contact
