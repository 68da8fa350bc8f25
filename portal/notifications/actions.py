"""A member's choice of mails: their topics and frequencies."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import MailFrequency, MailSubscription, Member
from accounts.operating.operator_actions import AdminAction
from portal.notifications.sending import newest_event
from portal.notifications.topics import topics_of

NEVER = ""


class NotificationsForm(forms.Form):
    """The form with a frequency for each topic of the member's party."""

    def __init__(self, member: Member, sent: dict[str, object] | None) -> None:
        chosen = {topic: each.frequency for each in member.mail_subscriptions.all() for topic in each.topics}
        super().__init__(sent, initial=chosen)
        for topic in topics_of(member.party.role):
            self.fields[topic.name] = forms.ChoiceField(
                label=topic.label, required=False, choices=[(NEVER, "Never"), *MailFrequency.choices]
            )


def _change(member: Member, by: Actor, answers: dict[str, object]) -> str:
    """Save one subscription for each chosen frequency. A new subscription begins with the next event."""
    for frequency in MailFrequency:
        topics = [name for name, chosen in answers.items() if chosen == frequency]
        own = MailSubscription.objects.filter(member=member, frequency=frequency)
        if not topics:
            own.delete()
        elif not own.update(topics=topics):
            MailSubscription.objects.create(
                member=member,
                frequency=frequency,
                topics=topics,
                after=newest_event(),
                checked_at=timezone.now(),
            )
    return "Your choice of mails was saved."


def stop(member_id: int) -> None:
    """End all mails of a member."""
    MailSubscription.objects.filter(member=member_id).delete()


def _effect(member: Member) -> str:
    mails = f"Mails go to {member.user.email}. They are about {member.party} only."
    return mails if settings.EMAIL_URL else f"This service sends no mail yet. {mails}"


CHANGE = AdminAction[Member](
    "change",
    "Save notifications",
    _change,
    lambda member: "",
    _effect,
    form=NotificationsForm,
    help_text="Daily mails are sent at 06:00 UTC. Each mail has a link that stops all of them.",
    undo="Change the choice again.",
)
