"""The rows of an order's timeline. A row has all entries of one request, and a sentence as its heading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count, groupby

from events.timeline import HistoryEntry
from ui.badges import state_words

SENTENCES = {
    "order.created": ("pushed the order", ""),
    "order.address_corrected": ("corrected the address", ""),
    "order.held": ("held the order", "warn"),
    "order.released": ("released the order", ""),
    "order.cancel_requested": ("requested the cancellation{of units}", "warn"),
    "order.ship_until_changed": ("changed the deadline", ""),
    "order.wait_ended": ("ended the wait for stock", ""),
    "order.erased": ("erased the customer's data", ""),
    "fulfillment.rejected": ("refused{units}{reason}", "bad"),
    "fulfillment.withdrawn": ("took back{units}", "warn"),
    "fulfillment.cancelation_refused": ("refused the cancellation", "bad"),
    "fulfillment.canceled": ("canceled{units}", "bad"),
    "fulfillment.accepted": ("accepted the work", "good"),
    "fulfillment.shipped": ("shipped{units}", "good"),
    "fulfillment.shipment_corrected": ("corrected a parcel", ""),
    "fulfillment.parcel_kept": ("shipped{units}, which waits for the release", "warn"),
    "fulfillment.returned": ("recorded a return{of units}", ""),
    "fulfillment.restocked": ("put returned units into stock{units}", ""),
    "fulfillment.invoiced": ("sent the invoice", ""),
    "fulfillment.address_corrected": ("corrected the address", ""),
    "order.canceled": ("canceled the order", "bad"),
}
"""The words after the actor's name, and the color of the row, by event type.

The most informative types come first. A row's sentence comes from the first of these types in the row.
"""
RANKS = dict(zip(SENTENCES, count()))
UNRANKED = len(RANKS)
REASON_IN_SENTENCE = frozenset(type_ for type_, (words, _) in SENTENCES.items() if "{reason}" in words)
ALWAYS_SHOWN = (
    "reason",
    "why",
    "operator reason",
    "approved by",
    "tracking number",
    "carrier",
    "unrouted",
    "answer",
)
"""The details that are visible without a click."""
AT_ONCE = timedelta(seconds=2)
SHOWN_BESIDE = ("routing", "capture", "remark")
"""The kinds of entries that are shown beside the event of their request. *Details* shows the other kinds."""


@dataclass(frozen=True)
class TimelineRow:
    """All entries of one request. The most informative entry gives the sentence."""

    entries: list[HistoryEntry]
    party: str
    """The name of the supplier or retailer whose key was used; empty for people and the service."""

    @cached_property
    def lead(self) -> HistoryEntry:
        return min(self.entries, key=lambda entry: (RANKS.get(entry.type, UNRANKED), entry.about != "event"))

    @property
    def at(self) -> datetime:
        return self.entries[0].at

    @property
    def sentence(self) -> str:
        """The event in words, such as "Acme refused 3 × MUG-1: Missing SKU"."""
        lead = self.lead
        words, _ = SENTENCES.get(lead.type, ("", ""))
        if not words:
            return lead.title
        details = dict(lead.details)
        units, reason = details.get("units", ""), details.get("reason", "")
        text = words.replace("{units}", f" {units}" if units else "")
        text = text.replace("{of units}", f" of {units}" if units else "")
        text = text.replace("{reason}", f": {state_words(reason)}" if reason else "")
        by = self.party or lead.by
        return f"{by[:1].upper()}{by[1:]} {text}"

    @property
    def by(self) -> str:
        """The name of the actor, or an empty text if the sentence has the name."""
        return "" if self.lead.type in SENTENCES else self.party or self.lead.by

    @property
    def meaning(self) -> str:
        meaning = SENTENCES.get(self.lead.type, ("", ""))[1]
        return "warn" if not meaning and any("given up" in entry.title for entry in self.entries) else meaning

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The details that are visible without a click.

        The entry `lead` shows the details in `ALWAYS_SHOWN`, or all details if its type has no sentence.
        Entries of the kinds in `SHOWN_BESIDE` show their units.
        """
        lead = self.lead
        whole = lead.type not in SENTENCES
        found = [
            (name, text)
            for name, text in lead.details
            if (whole or name in ALWAYS_SHOWN) and not (name == "reason" and lead.type in REASON_IN_SENTENCE)
        ]
        for entry in self.entries:
            if entry is not lead and entry.about in SHOWN_BESIDE:
                found += [
                    (entry.title if name == "units" else name, text)
                    for name, text in entry.details
                    if name in ("units", "unrouted")
                ]
        return found

    @property
    def moves(self) -> list[HistoryEntry]:
        """The entries that changed a state. Equal changes of several fulfillments give only one entry."""
        moved = [entry for entry in self.entries if entry.to_state and entry.from_state != entry.to_state]
        return [*{(entry.from_state, entry.to_state): entry for entry in moved}.values()]

    @property
    def has_details(self) -> bool:
        lead = self.lead
        return len(self.entries) > 1 or bool(lead.key or lead.request_id or lead.type)


def timeline_rows(
    entries: Iterable[HistoryEntry], suppliers: Mapping[int, str], retailer: str
) -> list[TimelineRow]:
    """Group consecutive entries of one request on one day. `suppliers` has names by fulfillment id."""
    rows = []
    for _, together in groupby(_with_requests([*entries]), lambda each: (each[1].at.date(), each[0])):
        row = TimelineRow([entry for _, entry in together], "")
        lead = row.lead
        if lead.key:
            of_supplier = lead.type.startswith("fulfillment.") and lead.fulfillment_id in suppliers
            party = suppliers[lead.fulfillment_id] if of_supplier and lead.fulfillment_id else retailer
            row = TimelineRow(row.entries, party)
        rows.append(row)
    return rows


def _with_requests(entries: list[HistoryEntry]) -> list[tuple[str, HistoryEntry]]:
    """Return each entry with the name of its group: the id of the request, and the time at which it began.

    Consecutive entries without a request form a group if they have the same actor and less than two seconds
    between them. A routing decision without a request joins the next entry. A remark is a group of its own.
    """
    named: list[tuple[str, HistoryEntry]] = []
    for number, entry in reversed([*enumerate(entries)]):
        name = f"{entry.request_id} {entry.began}" if entry.request_id else f"alone {number}"
        after = named[-1] if named else None
        if not entry.request_id and after and entry.about != "remark" and after[1].about != "remark":
            same_actor = entry.about == "routing" or after[1].by == entry.by
            if not after[1].request_id and same_actor and after[1].at - entry.at < AT_ONCE:
                name = after[0]
        named.append((name, entry))
    return named[::-1]
