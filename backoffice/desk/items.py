"""The classes of the desk's rows, of their actions, and of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.models import OperatorNote
from accounts.operating.admin_filters import Narrowing, list_url
from backoffice.contacts.concerned import WRITABLE
from backoffice.models import RecordComment


class Money(NamedTuple):
    """An amount in its currency."""

    amount: Decimal
    currency: str


class RowAction(NamedTuple):
    """A link to an action on a row. The URL has a `?`, because the template appends the parameter `next`."""

    label: str
    url: str


@dataclass
class DeskItem:
    """A row of the desk. `also` names the other kinds of the same order."""

    record: Model
    kind: DeskKind
    title: str
    problem: str
    since: datetime | None
    due_at: datetime | None = None
    parties: str = ""
    order_id: int | None = None
    money: list[Money] = field(default_factory=list)
    expected_at: date | None = None
    """The day on which stock for the order's waiting lines is expected."""
    also: list[str] = field(default_factory=list)
    note: OperatorNote | None = None
    comments: list[RecordComment] = field(default_factory=list)
    """The latest comments, newest first."""

    @property
    def model(self) -> str:
        return self.record._meta.label_lower

    @property
    def key(self) -> str:
        """The key of the row in the page. Live updates find the row by this key."""
        return f"{self.model}-{self.record.pk}"

    @property
    def url(self) -> str:
        return reverse(f"admin:{self.model.replace('.', '_')}_change", args=[self.record.pk])

    @property
    def summary(self) -> str:
        """Return the problem, the expected day of stock, the end of a snooze, and the latest comment."""
        parts = [self.problem]
        if self.expected_at:
            parts.append(f"expected on {self.expected_at:%-d %b %Y}")
        until = self.note.snoozed_until if self.note else None
        if until and until > timezone.now():
            parts.append(f"snoozed until {until:%-d %b, %H:%M}")
        parts += [f"{comment.by}: {comment.text}" for comment in self.comments[:1]]
        return ", ".join(part for part in parts if part)

    @property
    def actions(self) -> list[RowAction]:
        """Return the actions on the row's record, the most useful first."""
        name = f"admin:{self.model.replace('.', '_')}_do"
        pk = self.record.pk
        return [
            RowAction(label, f"{reverse(name, args=[pk, action])}?") for action, label in self.kind.actions
        ]

    @property
    def menu(self) -> list[RowAction]:
        """Return the actions, and the link to write a message to the party, if the record has a party."""
        if self.model not in WRITABLE:
            return self.actions
        problem = urlencode({"problem": self.problem[:200]})
        url = reverse("admin:messages", args=[*self.model.split("."), self.record.pk])
        return [*self.actions, RowAction("Write message", f"{url}?{problem}")]


@dataclass(frozen=True)
class DeskKind:
    """One kind of waiting work: its rows, its texts and its actions.

    `due` is the field of the deadline, a moment or a day. `order` is the field of the order's id.
    """

    name: str
    """The key by which the menu, the home page and URLs refer to the kind."""
    title: str
    help_text: str
    model: type[Model]
    rows: Callable[[], QuerySet[Any]]
    read: Callable[[Any], dict[str, Any]]
    since: str
    supplier: str = ""
    """The field of the supplier. Kinds of orders need no such field: the fulfillments name the suppliers."""
    retailer: str = ""
    """The field of the retailer. Empty if the rows concern no retailer."""
    party: str = ""
    """The field of the party by which rows are grouped. Empty if both suppliers and retailers have rows."""
    due: str = ""
    is_day: bool = False
    always_due: bool = False
    """Whether all rows have a deadline. Then rows are sorted by the field itself, without COALESCE."""
    order: str = ""
    actions: Sequence[tuple[str, str]] = ()
    listed: type[Model] | None = None
    """The model whose filtered admin list has exactly these rows, or None without such a list."""
    filters: Sequence[Narrowing] = ()
    """The filters that limit this admin list to the rows."""

    @property
    def url(self) -> str:
        """The URL of the rows: the filtered admin list if `listed` is set, else the filtered desk."""
        if self.listed is not None:
            return list_url(self.listed, self.filters)
        return f"{reverse('admin:desk')}?kind={self.name}"

    @property
    def never(self) -> date | datetime:
        """The deadline that sorts rows without a deadline last. The kind's index contains the same value."""
        return date.max if self.is_day else datetime.max.replace(tzinfo=UTC, microsecond=0)

    def moment(self, due: date | datetime) -> datetime | None:
        """Return the deadline as a moment, or None for `never`. A day ends at midnight UTC."""
        if due == self.never:
            return None
        return due if isinstance(due, datetime) else datetime.combine(due + timedelta(days=1), time(), UTC)
