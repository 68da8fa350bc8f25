"""Messages of operators to the contacts of parties, and the answers."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.contact import Contact
from accounts.models.party import Retailer, Supplier
from fastdb.leased import LeasedWork

BY_MEMBER = "member:"


class ContactMessageQuerySet(models.QuerySet["ContactMessage"]):
    def of_party(self, party: Supplier | Retailer) -> Self:
        """Return the messages to contacts of the party, and their answers."""
        return self.filter(contact__in=Contact.objects.filter(**{party.role.value: party}))

    def to_answer(self) -> Self:
        """Return the messages that no one has answered or marked as done."""
        return self.filter(is_answer=False, done_at=None)

    def unread_answers(self) -> Self:
        """Return the answers of members that no operator has read. Other answers were typed by operators."""
        return self.filter(is_answer=True, done_at=None, by__startswith=BY_MEMBER)

    def in_thread(self, message: ContactMessage) -> Self:
        """Return the messages and answers about the same record, to or from the same party."""
        thread = self.filter(model=message.model, record_id=message.record_id)
        return thread.of_party(message.contact.party) if message.contact else thread.filter(pk=message.pk)


class ContactMessage(LeasedWork):
    """A message about a record to a contact, or the contact's answer. The row has no copy of contact data."""

    # A mail server may be slow in each step of a mail. After the lease, another worker sends the mail again.
    LEASE: ClassVar = timedelta(minutes=10)

    model = models.CharField(max_length=100, help_text="The model of the record, such as orders.order.")
    record_id = models.BigIntegerField()
    contact = models.ForeignKey(Contact, null=True, on_delete=models.SET_NULL, related_name="messages")
    is_answer = models.BooleanField(default=False)
    subject = models.CharField(max_length=200, blank=True)
    text = models.TextField(max_length=5_000)
    by = models.CharField(max_length=150, help_text="The name of a user, or an actor such as member:7.")
    form_id = models.UUIDField(unique=True, help_text="The id of the sent form. A form is stored only once.")
    created_at = models.DateTimeField(db_default=Now())
    next_try_at = models.DateTimeField(
        null=True, help_text="When a worker mails it; null when nothing is left."
    )
    sent_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)
    done_at = models.DateTimeField(
        null=True, help_text="When it was answered or closed, or the answer was read."
    )

    objects = ContactMessageQuerySet.as_manager()

    class Meta:
        # The model was in the app `backoffice`. The previous release still reads the table by this name.
        db_table = "backoffice_contactmessage"
        ordering = ["id"]
        indexes = [
            models.Index("record_id", "model", name="contact_message_of"),
            models.Index("next_try_at", condition=Q(next_try_at__isnull=False), name="contact_message_due"),
            models.Index("id", condition=Q(is_answer=True, done_at=None), name="contact_answer_unread"),
        ]

    def __str__(self) -> str:
        return self.subject or self.text[:60]

    @classmethod
    def to_do(cls) -> Q:
        return Q(next_try_at__lte=Now())
