"""Members' actions on webhooks: operators' actions that ask for no reason, and actions only for members."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.html import format_html, format_html_join

from accounts.actors import Actor
from accounts.models import Retailer, Supplier
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from accounts.scopes import scopes_of
from events.admin_actions import WEBHOOK_ACTIONS
from events.models import Webhook, areas_of
from events.webhooks import services
from portal.connections.forms import ReplayForm, WebhookForm, known_types
from portal.connections.shown_once import show_once


def _create(party: Supplier | Retailer, by: Actor, answers: dict[str, object]) -> str:
    fields = {"url": answers["url"], "types": answers["types"]}
    webhook, secret = services.create(party, areas_of(scopes_of(party.role)), fields, by=by)
    show_once(party, ("Secret", secret))
    return f"The webhook {webhook.url} was created. It gets all events from now on."


def _change(webhook: Webhook, by: Actor, answers: dict[str, Any]) -> str:
    webhook.url, webhook.types = answers["url"], answers["types"]
    services.change(webhook, ["url", "types"], by=by)
    return "The webhook was changed."


def _present(webhook: Webhook) -> str:
    """Return the effect as a text with the present values.

    If another member changes a value, the text changes, and an open form becomes stale.
    """
    types = ", ".join(sorted(webhook.types)) or "events of all types"
    now = f"Now, {webhook.url} gets {types}."
    return f"{now} Waiting deliveries go to the new URL. The secret stays the same."


def _rotate(webhook: Webhook, by: Actor, answers: dict[str, object]) -> str:
    show_once(webhook, ("Secret", services.rotate(webhook, by=by)))
    return "The webhook has a new secret."


def _replay(webhook: Webhook, by: Actor, answers: dict[str, Any]) -> str:
    count = services.replay(webhook, answers["after"], answers["until"], by=by)
    return f"Events that are sent again: {count}."


def _remove(webhook: Webhook, by: Actor, answers: dict[str, object]) -> str:
    if not services.remove(webhook, by=by):
        raise NothingChanged("This webhook is already removed.")
    return f"The webhook {webhook.url} was removed."


def _types(party: Supplier | Retailer) -> str:
    """Return an HTML list of the types of events that the party can receive."""
    names = format_html_join("", "<li><code>{}</code></li>", ((name,) for name in known_types(party)))
    return format_html("<details><summary>All types of events</summary><ul>{}</ul></details>", names)


def _always(record: object) -> str:
    return ""


CREATE_WEBHOOK = AdminAction[Any](
    "create-webhook",
    "Create webhook",
    _create,
    _always,
    lambda party: f"The service sends the events of {party} to the URL.",
    form=WebhookForm.of,
    details=_types,
    help_text="The next page shows the secret once. Your system checks the signatures of events with it.",
    undo="Remove the webhook.",
)
_OF_OPERATORS = {action.name: action for action in WEBHOOK_ACTIONS}
OF_MEMBERS: tuple[AdminAction[Any], ...] = (
    _OF_OPERATORS["test"],
    AdminAction[Webhook](
        "edit",
        "Edit webhook",
        _change,
        _always,
        _present,
        form=WebhookForm.of_webhook,
        details=lambda webhook: _types(webhook.party),
        undo="Edit the webhook again.",
    ),
    AdminAction[Webhook](
        "replay",
        "Send events again",
        _replay,
        _OF_OPERATORS["test"].why_not,
        lambda webhook: f"Events of the chosen range are sent to {webhook.url} again.",
        form=lambda webhook, sent: ReplayForm(sent),
        help_text=f"At most {services.MOST_REPLAYED:,} events are sent. Each event keeps its id.",
        undo="There is nothing to undo: receivers ignore events that they already have.",
    ),
    replace(_OF_OPERATORS["resend_dead"], name="resend-dead"),
    AdminAction[Webhook](
        "rotate",
        "Replace secret",
        _rotate,
        _always,
        lambda webhook: "For 24 hours, deliveries carry signatures of the new and of the old secret.",
        help_text="The next page shows the new secret once.",
        undo="Replace the secret again.",
    ),
    replace(_OF_OPERATORS["switch_on"], name="switch-on", undone_by="", undo="Switch the webhook off again."),
    replace(
        _OF_OPERATORS["switch_off"],
        name="switch-off",
        reason=Reason.NONE,
        undone_by="",
        help_text="Your system can still read all events in the event feed of the API.",
        undo="Switch the webhook on again.",
    ),
    AdminAction[Webhook](
        "remove",
        "Remove webhook",
        _remove,
        _always,
        lambda webhook: f"{webhook.url} gets no more events. Waiting events are not sent.",
        undo="Create the webhook again. It has a new secret then.",
        danger=True,
    ),
)
