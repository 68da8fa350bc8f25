"""Operators' actions on webhooks and deliveries. The actions call the same functions as the API."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from events.models import Delivery, Webhook
from events.webhooks import services


def _test(webhook: Webhook, by: Actor, answers: dict[str, object]) -> str:
    delivery = services.send_test(webhook, by=by)
    return f"Event {delivery.event_id} is being sent. Its delivery shows the result."


def _revive(webhook: Webhook, by: Actor, answers: dict[str, object]) -> str:
    count = services.revive(webhook, by=by)
    if not count:
        raise NothingChanged("This webhook has no dead deliveries.")
    return f"Deliveries to send again: {count}."


def _switch(active: bool) -> Any:
    def run(webhook: Webhook, by: Actor, answers: dict[str, object]) -> str:
        webhook.active = active
        services.change(webhook, ["active"], by=by)
        return "Events are sent again." if active else "No more events are sent or queued."

    return run


def _resend(delivery: Delivery, by: Actor, answers: dict[str, object]) -> str:
    if not services.replay(delivery.webhook, delivery.event_id - 1, delivery.event_id, by=by):
        raise NothingChanged("The webhook no longer gets events of this type. Nothing is sent.")
    return f"Event {delivery.event_id} is sent again."


REMOVED = "Its party removed this webhook."


def _not_active(webhook: Webhook) -> str:
    if webhook.removed_at:
        return REMOVED
    return "" if webhook.active else "This webhook is switched off."


def _not_off(webhook: Webhook) -> str:
    if webhook.removed_at:
        return REMOVED
    return "This webhook is switched on." if webhook.active else ""


def _not_resendable(delivery: Delivery) -> str:
    if delivery.subject == "" and delivery.event.area == "accounts":
        return "This delivery was a test. Send another test instead."
    return _not_active(delivery.webhook)


WEBHOOK_ACTIONS = (
    AdminAction[Webhook](
        "test",
        "Send test event",
        _test,
        _not_active,
        lambda webhook: f"{webhook.url} receives an event of the type webhook.tested.",
        help_text="The receiver can ignore the event.",
        undo="There is nothing to undo.",
    ),
    AdminAction[Webhook](
        "resend_dead",
        "Send dead deliveries again",
        _revive,
        _not_active,
        lambda webhook: f"All dead deliveries are sent to {webhook.url} again.",
        help_text="They keep their event ids, and are tried for another 72 hours.",
        undo="There is nothing to undo: receivers ignore events that they already have.",
        bulk=True,
    ),
    AdminAction[Webhook](
        "switch_off",
        "Switch off webhook",
        _switch(False),
        _not_active,
        lambda webhook: f"No more events are sent to {webhook.url}, and new events are not queued for it.",
        help_text="Only the party or an operator switches a webhook off. The service never does.",
        reason=Reason.REQUIRED,
        danger=True,
        undo="Switch the webhook on again.",
        undone_by="switch_on",
    ),
    AdminAction[Webhook](
        "switch_on",
        "Switch on webhook",
        _switch(True),
        _not_off,
        lambda webhook: f"New events and waiting deliveries are sent to {webhook.url}.",
        help_text="The party can request a replay of the events that occurred in between.",
        undo="Switch the webhook off again.",
        undone_by="switch_off",
    ),
)
DELIVERY_ACTIONS = (
    AdminAction[Delivery](
        "resend",
        "Send delivery again",
        _resend,
        _not_resendable,
        lambda delivery: f"Event {delivery.event_id} is sent to {delivery.webhook.url} again.",
        help_text="It keeps its event id, and is tried for another 72 hours.",
        undo="There is nothing to undo: receivers ignore events that they already have.",
        bulk=True,
    ),
)
