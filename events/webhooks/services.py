"""What partners and operators do with webhooks; each change is recorded for operators."""

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

MOST_WEBHOOKS = 20  # of one party
MOST_REPLAYED = 100_000  # events by one request


class TooManyWebhooks(ApiError):
    code: ClassVar[str] = "too_many_webhooks"
    status: ClassVar[int] = 409


class WebhookInactive(ApiError):
    code: ClassVar[str] = "webhook_inactive"
    status: ClassVar[int] = 409


def create(
    party: Supplier | Retailer, areas: Iterable[str], fields: Mapping[str, Any], *, by: Actor
) -> tuple[Webhook, str]:
    """Make a webhook, and return it with its secret. It hears of what is committed from now on.

    Raises TooManyWebhooks.
    """
    webhook = Webhook(areas=sorted(areas), **{party.role.value: party}, **fields)
    secret = webhook.make_secret()
    Event.publish()
    with transaction.atomic():
        # While it is locked, no event passes that this webhook would not hear of.
        RelayBookmark.lock()
        if Webhook.objects.present().for_party(party).count() >= MOST_WEBHOOKS:
            raise TooManyWebhooks(f"There are {MOST_WEBHOOKS} webhooks already; remove one first.")
        webhook.after = last_number()
        add_recorded(webhook, "webhook", by=by, **_about(webhook))
    webhook.refresh_from_db(fields=["created_at"])
    return webhook, secret


def change(webhook: Webhook, names: Collection[str], *, by: Actor) -> None:
    """Save these fields of a webhook. What waits for it goes to the new URL."""
    change_recorded(webhook, names, "webhook", by=by, **_about(webhook))


def remove(webhook: Webhook, *, by: Actor) -> bool:
    """Send nothing to it any more; return whether it was there. Its rows go later, by `upkeep`."""
    with transaction.atomic():
        gone = Webhook.objects.present().filter(pk=webhook.pk)
        if not gone.update(removed_at=timezone.now(), secret="", old_secret=""):
            return False
        _record("webhook.deleted", webhook, by=by)
    return True


def rotate(webhook: Webhook, *, by: Actor) -> str:
    """Give it a new secret, and return that; for 24 h deliveries bear the signature of the old one, too."""
    with transaction.atomic():
        webhook.refresh_from_db(from_queryset=Webhook.objects.select_for_update())
        secret = webhook.make_secret()
        webhook.save(update_fields=["secret", "old_secret", "old_secret_until"])
        _record("webhook.rotated", webhook, by=by)
    return secret


def send_test(webhook: Webhook, *, by: Actor) -> Delivery:
    """Send it an event of the type `webhook.tested`, which stands in no feed. Raises WebhookInactive."""
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
    """Send it once more all that it wants of the feed behind `after`, up to `until` (now); return how many.

    Raises WebhookInactive, and Invalid where these are too many for one request.
    """
    _require_active(webhook)
    Event.publish()
    last = last_number() if until is None else min(until, last_number())
    if count_wanted(webhook, after, last, most=MOST_REPLAYED + 1) > MOST_REPLAYED:
        raise Invalid.at("until", f"These are more than {MOST_REPLAYED} events; ask for a shorter stretch.")
    with transaction.atomic():
        count = relay_again(webhook, after, last)
        _record("webhook.replayed", webhook, by=by, after=after, until=last, deliveries=count)
    return count


def revive(webhook: Webhook, *, by: Actor) -> int:
    """Send it once more all that was given up; return how many. Raises WebhookInactive."""
    _require_active(webhook)
    with transaction.atomic():
        count = revive_dead(webhook)
        if count:
            _record("webhook.replayed", webhook, by=by, dead=True, deliveries=count)
    return count


def _require_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise WebhookInactive("This webhook is switched off: set active to true first.")


def _record(type: str, webhook: Webhook, *, by: Actor, **data: Any) -> Event:  # noqa: A002
    fields = _about(webhook)
    return record(type, by=by, **{**fields, "data": {"webhook_id": webhook.pk, **fields["data"], **data}})


def _about(webhook: Webhook) -> dict[str, Any]:
    """What its events say of it: its URL, never a secret."""
    return {"area": ACCOUNTS, webhook.role.value: webhook.party, "data": {"url": webhook.url}}
