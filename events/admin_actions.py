"""What operators can do about webhooks and their deliveries; each is one call of what the API calls."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from events.models import Delivery, Webhook
from events.webhooks import services


def _test(webhook: Webhook, by: Actor, answers: dict[str, Any]) -> str:
    delivery = services.send_test(webhook, by=by)
    return f"Event {delivery.event_id} is on its way; its delivery says how it went."


def _revive(webhook: Webhook, by: Actor, answers: dict[str, Any]) -> str:
    count = services.revive(webhook, by=by)
    if not count:
        raise NothingChanged("Nothing of it is dead.")
    return f"Deliveries on their way again: {count}."


def _switch(active: bool) -> Any:
    def run(webhook: Webhook, by: Actor, answers: dict[str, Any]) -> str:
        webhook.active = active
        services.change(webhook, ["active"], by=by)
        return "Events are sent again." if active else "Nothing is sent any more, and nothing new waits."

    return run


def _resend(delivery: Delivery, by: Actor, answers: dict[str, Any]) -> str:
    services.replay(delivery.webhook, delivery.event_id - 1, delivery.event_id, by=by)
    return f"Event {delivery.event_id} is on its way again."


def _not_active(webhook: Webhook) -> str:
    if webhook.removed_at:
        return "Its party has removed it."
    return "" if webhook.active else "It is switched off."


def _not_resendable(delivery: Delivery) -> str:
    if delivery.subject == "" and delivery.event.area == "accounts":
        return "It was a test: send another one."
    return _not_active(delivery.webhook)


WEBHOOK_ACTIONS = (
    AdminAction[Webhook](
        "test",
        "Send a test",
        _test,
        _not_active,
        lambda webhook: f"{webhook.url} gets an event of the type webhook.tested.",
        help_text="Its receiver ignores it, or notes that it came.",
        undo="There is nothing to undo.",
    ),
    AdminAction[Webhook](
        "resend_dead",
        "Send dead ones again",
        _revive,
        _not_active,
        lambda webhook: f"All deliveries that were given up are sent to {webhook.url} again.",
        help_text="With the same event ids, for another 72 hours.",
        undo="There is nothing to undo: receivers ignore what they have seen.",
        bulk=True,
    ),
    AdminAction[Webhook](
        "switch_off",
        "Switch off",
        _switch(False),
        _not_active,
        lambda webhook: f"Nothing is sent to {webhook.url}, and what happens meanwhile is not kept for it.",
        help_text="Only its party or an operator does that; the service never does.",
        reason=Reason.REQUIRED,
        danger=True,
        undone_by="switch_on",
    ),
    AdminAction[Webhook](
        "switch_on",
        "Switch on",
        _switch(True),
        lambda webhook: "It is switched on." if webhook.active else "",
        lambda webhook: f"What happens from now on is sent to {webhook.url}, and what still waits.",
        help_text="What happened meanwhile its party can have by a replay.",
        undone_by="switch_off",
    ),
)
DELIVERY_ACTIONS = (
    AdminAction[Delivery](
        "resend",
        "Send again",
        _resend,
        _not_resendable,
        lambda delivery: f"Event {delivery.event_id} is sent to {delivery.webhook.url} again.",
        help_text="Whatever became of it; with the same event id, for another 72 hours.",
        undo="There is nothing to undo: receivers ignore what they have seen.",
        bulk=True,
    ),
)
