"""Changes of webhooks by partners and operators. Each change is recorded as an event for operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from django.db import transaction
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Retailer, Supplier
from api.errors import ApiError, Invalid
from events.changes import add_recorded, change_recorded
from events.models import ACCOUNTS, Delivery, Event, RelayBookmark, Webhook
from events.recording import record
from events.webhooks.relay import count_wanted, last_number, relay_again, revive_dead
from events.webhooks.types import TESTED

MOST_WEBHOOKS = 20  # the most webhooks of one party
MOST_REPLAYED = 100_000  # the most events in one replay request


class TooManyWebhooks(ApiError):
    code: ClassVar[str] = "too_many_webhooks"
    status: ClassVar[int] = 409


class WebhookInactive(ApiError):
    code: ClassVar[str] = "webhook_inactive"
    status: ClassVar[int] = 409


def create(
    party: Supplier | Retailer, areas: Iterable[str], fields: Mapping[str, object], *, by: Actor
) -> tuple[Webhook, str]:
    """Create a webhook for the events that are committed from now on. Return the webhook and its secret.

    Raises TooManyWebhooks.
    """
    webhook = Webhook(areas=sorted(areas), **{party.role.value: party}, **fields)
    secret = webhook.make_secret()
    Event.publish()
    with transaction.atomic():
        # Without this lock, a relay that does not see the new webhook yet could skip an event for it.
        RelayBookmark.lock()
        if Webhook.objects.present().for_party(party).count() >= MOST_WEBHOOKS:
            raise TooManyWebhooks(f"There are already {MOST_WEBHOOKS} webhooks. Remove one first.")
        webhook.after = last_number()
        add_recorded(webhook, "webhook", by=by, **_about(webhook))
    webhook.refresh_from_db(fields=["created_at"])
    return webhook, secret


def change(webhook: Webhook, names: Collection[str], *, by: Actor) -> None:
    """Save these fields of a webhook. Waiting deliveries go to the new URL."""
    change_recorded(webhook, names, "webhook", by=by, **_about(webhook))


def remove(webhook: Webhook, *, by: Actor) -> bool:
    """Mark a webhook as removed. Return False if it was already removed. `upkeep` deletes its rows later."""
    with transaction.atomic():
        present = Webhook.objects.present().filter(pk=webhook.pk)
        if not present.update(removed_at=timezone.now(), secret="", old_secret=""):
            return False
        _record("webhook.deleted", webhook, by=by)
    return True


def rotate(webhook: Webhook, *, by: Actor) -> str:
    """Set a new secret and return it. For 24 h, deliveries are also signed with the older secrets."""
    with transaction.atomic():
        webhook.refresh_from_db(from_queryset=Webhook.objects.select_for_update())
        secret = webhook.make_secret()
        webhook.save(update_fields=["secret", "old_secret", "old_secret_until"])
        _record("webhook.rotated", webhook, by=by)
    return secret


def send_test(webhook: Webhook, *, by: Actor) -> Delivery:
    """Send a `webhook.tested` event to this webhook. The event is in no feed. Raises WebhookInactive."""
    _require_active(webhook)
    with transaction.atomic():
        event = _record(TESTED, webhook, by=by)
    Event.publish()
    event.refresh_from_db(fields=["number"])
    now = timezone.now()
    delivery = Delivery(webhook=webhook, event=event, next_attempt_at=now, expires_at=now + Delivery.LIFETIME)
    delivery.save(force_insert=True)
    return delivery


def replay(webhook: Webhook, after: int, until: int | None, *, by: Actor) -> int:
    """Send again the events with ids above `after` and up to `until`. Return the number of deliveries.

    Without `until`, the range ends at the newest event. Raises WebhookInactive, or Invalid for a reversed
    range or too many events.
    """
    _require_active(webhook)
    if until is not None and until < after:
        raise Invalid.at("until", f"Must not be below `after`, which is {after}.")
    # Do not assign numbers to new events here: the lock would make all parties wait until this request ends.
    # The relay assigns them, and sends these events anyway.
    last = last_number() if until is None else min(until, last_number())
    if count_wanted(webhook, after, last, most=MOST_REPLAYED + 1) > MOST_REPLAYED:
        raise Invalid.at("until", f"The range has more than {MOST_REPLAYED} events. Request a shorter range.")
    with transaction.atomic():
        count = relay_again(webhook, after, last)
        _record("webhook.replayed", webhook, by=by, after=after, until=last, deliveries=count)
    return count


def revive(webhook: Webhook, *, by: Actor) -> int:
    """Send all dead deliveries again, and return their number. Raises WebhookInactive."""
    _require_active(webhook)
    with transaction.atomic():
        count = revive_dead(webhook)
        if count:
            _record("webhook.replayed", webhook, by=by, dead=True, deliveries=count)
    return count


def _require_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise WebhookInactive("This webhook is switched off. Set `active` to true first.")


def _record(type: str, webhook: Webhook, *, by: Actor, **data: object) -> Event:  # noqa: A002
    fields = _about(webhook)
    return record(type, by=by, **{**fields, "data": {"webhook_id": webhook.pk, **fields["data"], **data}})


def _about(webhook: Webhook) -> dict[str, Any]:
    """Return the common fields of a webhook's events. They contain the URL, but never a secret."""
    return {"area": ACCOUNTS, webhook.role.value: webhook.party, "data": {"url": webhook.url}}
