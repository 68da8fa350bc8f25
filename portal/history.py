"""The history of an order for a party.

It leaves out the reasons of operators, and the names of people of other parties.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from accounts.models import ApiKey, Retailer, Supplier, member_names
from accounts.scopes import Role
from events.models import Event
from events.recording import FOR_OPERATORS
from events.timeline import BY_KEY, HistoryEntry
from fulfillments.states import State
from fulfillments.timeline import event_entries
from ui.badges import state_words

Party = Supplier | Retailer


OTHERS = {Role.SUPPLIER: "the retailer", Role.RETAILER: "the supplier"}
"""The shown name of the other party, by the role of the reader."""


def history_of(
    party: Party, events: Iterable[Event], lines: Mapping[int, str], fulfillment_lines: Mapping[int, str]
) -> list[HistoryEntry]:
    """Return the events as entries of a history. `lines` and `fulfillment_lines` map line ids to names."""
    shown = list(events)
    names = actor_names(party, {event.actor for event in shown})
    suppliers = _suppliers(shown) if isinstance(party, Retailer) else {}
    for event in shown:
        event.data = {name: value for name, value in event.data.items() if name not in FOR_OPERATORS}
        name = names[event.actor]
        event.actor = f"user:{suppliers.get(event.supplier_id, name) if name == OTHERS[party.role] else name}"
    entries = event_entries(shown, lines, fulfillment_lines, {})
    return [
        replace(entry, title=_worded(party, entry.title), details=[*_in_words(entry.details)])
        for entry in entries
    ]


def _in_words(details: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Yield the details of an entry, with the reason of a rejection in words.

    The order's states are left out, because the page shows the current state as a badge.
    """
    for name, text in details:
        if name not in ("previous state", "processing state"):
            yield name, state_words(text) if name == "reason" and text in State.values else text


def _worded(party: Party, title: str) -> str:
    """Return a title in the words of the portal, which calls a supplier's fulfillment an order."""
    title = title.replace("cancelation", "cancellation")
    return title.replace("Fulfillment", "Order") if isinstance(party, Supplier) else title


def actor_names(party: Party, actors: Collection[str]) -> dict[str, str]:
    """Return the shown name of each actor. Actors outside the party get a general name: *an operator*."""
    keys = {match[1]: match[2] for actor in actors if (match := BY_KEY.fullmatch(actor))}
    of_party = ApiKey.objects.filter(**{party.role.value: party}, prefix__in=keys)
    prefixes = of_party.values_list("prefix", flat=True)
    own = {f"key:{prefix} ({keys[prefix]})": keys[prefix] for prefix in prefixes}
    own |= member_names(set(actors), party)
    other = OTHERS[party.role]
    known = {"user": "an operator", "key": other, "member": other}
    return {actor: own.get(actor) or known.get(actor.partition(":")[0], "the service") for actor in actors}


def _suppliers(events: Iterable[Event]) -> dict[int | None, str]:
    """Return the names of the suppliers of events by id."""
    suppliers = Supplier.objects.in_bulk({event.supplier_id for event in events if event.supplier_id})
    return {pk: supplier.name for pk, supplier in suppliers.items()}
