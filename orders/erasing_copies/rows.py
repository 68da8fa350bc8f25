"""The erasure of texts in rows that quote a person. Stored answers are deleted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db.models import Max, Min, Model, QuerySet

from accounts.models import IdempotencyKey, OperatorAction, OperatorActionRow, OperatorNote
from events.models import ACCOUNTS, Event
from events.recording import OPERATOR_REASON
from fulfillments.models import Fulfillment, Return
from fulfillments.states import WITHDRAWN, State
from imports.messages import MESSAGE_SENT
from inventory.models import MovementKind, StockMovement
from orders.erasing_copies.person import People, Person, redacted
from orders.models import CancelRequest, Order

ANSWERS = 5_000  # each call of `StoredAnswers.window` covers this many ids
ROWS = 1_000  # each call of `SearchTexts.window` reads this many rows
REASONS = ("reason", OPERATOR_REASON)  # the free texts in the data of an event
CODES = (*State, WITHDRAWN)  # the reasons of rejections, which are no free texts


class KindOfCopies(Protocol):
    """One kind of copies, such as the texts of events."""

    @property
    def name(self) -> str: ...

    def window(self, people: People, position: int) -> int | None:
        """Erase a limited number of copies after a position. Return the next position, or None at the end."""
        ...


@dataclass(frozen=True)
class TextsOfOrders:
    """Free texts in rows that belong to an order. An order has few such rows, so one call searches all."""

    name: str
    rows: Callable[[Collection[int]], QuerySet[Any]]
    """A function that returns the rows of these orders."""
    order_of: str
    """The path to the id of the order."""
    fields: tuple[str, ...]

    def window(self, people: People, position: int) -> int | None:
        for row in self.rows(people.persons.keys()).values("pk", *{self.order_of, *self.fields}):
            person = people.persons[row[self.order_of]]
            changed = {name: _without(person, row[name]) for name in self.fields}
            if any(changed[name] != row[name] for name in self.fields):
                self.rows([person.order_id]).model._base_manager.filter(pk=row["pk"]).update(**changed)
        return None


def _without(person: Person, value: object) -> Any:
    """Return a text of the person's order, or the data of an event of the order, without the person.

    Only the reasons in the data are free texts. The other texts are codes and numbers, which can equal a
    text that many consumers share.
    """
    if not isinstance(value, dict):
        return redacted(value, person, of_order=True)
    free = {name: value[name] for name in REASONS if name in value and value[name] not in CODES}
    return redacted(value, person, of_order=False) | redacted(free, person, of_order=True)


@dataclass(frozen=True)
class TextsOnRecords:
    """Operators' texts about an order or a fulfillment. Each row has the model and the id of this record."""

    name: str
    model: type[Model]
    fields: tuple[str, ...]
    record_model: str = "model"
    to_update: str = ""
    """The relation from `model` to the row with the texts; empty if `model` itself has the texts."""

    def window(self, people: People, position: int) -> int | None:
        path = f"{self.to_update}__" if self.to_update else ""
        orders = people.persons.keys()
        works = Fulfillment.objects.filter(order_id__in=orders).values_list("pk", "order_id")
        orders_by_record = {
            Order._meta.label_lower: {pk: pk for pk in orders},
            Fulfillment._meta.label_lower: dict(works),
        }
        for label, order_of in orders_by_record.items():
            about = self.model._base_manager.filter(**{self.record_model: label, "record_id__in": order_of})
            for row in about.values("record_id", f"{path}pk", *(path + name for name in self.fields)):
                person = people.persons[order_of[row["record_id"]]]
                texts = {name: row[path + name] for name in self.fields}
                changed = {name: redacted(text, person, of_order=True) for name, text in texts.items()}
                if changed != texts:
                    target = self.model._meta.get_field(self.to_update).related_model if path else self.model
                    target._base_manager.filter(pk=row[f"{path}pk"]).update(**changed)  # type: ignore[union-attr]
        return None


@dataclass(frozen=True)
class SearchTexts:
    """Texts of operators that belong to no order, such as filters of lists. They may quote a person."""

    name: str
    rows: Callable[[], QuerySet[Any]]
    column: str
    read: Callable[[str], str] = field(default=str)
    """A function that decodes the stored text."""
    erased: Mapping[str, object] = field(default_factory=dict)
    """The columns of a row with an erased text. By default, the column of the text is empty."""

    def window(self, people: People, position: int) -> int | None:
        later = self.rows().filter(pk__gt=position).exclude(**{self.column: ""}).order_by("pk")
        found = list(later.values_list("pk", self.column)[:ROWS])
        quoting = [pk for pk, text in found if people.are_in(self.read(text))]
        self.rows().model._base_manager.filter(pk__in=quoting).update(**self.erased or {self.column: ""})
        return found[-1][0] if len(found) == ROWS else None


class StoredAnswers:
    """Answers that are stored for repeated requests."""

    name = "stored answers"

    def window(self, people: People, position: int) -> int | None:
        """Delete answers that quote a person, or that show an address of the person's order."""
        ends = IdempotencyKey.objects.aggregate(first=Min("pk"), last=Max("pk"))
        if ends["last"] is None or position >= ends["last"]:
            return None
        first: int = max(position, ends["first"] - 1)
        window = IdempotencyKey.objects.filter(pk__gt=first, pk__lte=first + ANSWERS, encrypted=False)
        quoting = [
            pk
            for pk, body in window.values_list("pk", "body").iterator()
            if people.are_in(text := bytes(body).decode(errors="replace")) or _shows_address(text, people)
        ]
        IdempotencyKey.objects.filter(pk__in=quoting).delete()
        return first + ANSWERS


def _shows_address(text: str, people: People) -> bool:
    """Return whether an answer names one of the orders and shows an address, even a former address."""
    return '"address1"' in text and people.are_named_in(text)


def _returns_in_ledger(orders: Collection[int]) -> QuerySet[StockMovement]:
    """Select the movements of returned units, which have the reason of the return."""
    return StockMovement.objects.filter(order_id__in=orders, kind=MovementKind.RETURN)


def _messages_about_imports() -> QuerySet[Event]:
    return Event.objects.filter(area=ACCOUNTS, type=MESSAGE_SENT)


TEXTS: tuple[KindOfCopies, ...] = (
    TextsOfOrders("events", lambda orders: Event.objects.filter(order_id__in=orders), "order_id", ("data",)),
    TextsOfOrders(
        "cancel requests",
        lambda orders: CancelRequest.objects.filter(order_id__in=orders),
        "order_id",
        ("reason",),
    ),
    TextsOfOrders(
        "returns",
        lambda orders: Return.objects.filter(fulfillment__order_id__in=orders),
        "fulfillment__order_id",
        ("reason",),
    ),
    TextsOfOrders("returns in the stock ledger", _returns_in_ledger, "order_id", ("reason",)),
    TextsOnRecords("notes", OperatorNote, ("text",)),
    TextsOnRecords("operators' results", OperatorActionRow, ("effect", "message"), "action__model"),
    TextsOnRecords("operators' reasons", OperatorActionRow, ("reason", "answers"), "action__model", "action"),
    SearchTexts("operators' filters", OperatorAction.objects.all, "chosen_from"),
    SearchTexts("messages about imports", _messages_about_imports, "data__text", erased={"data": {}}),
    StoredAnswers(),
)
