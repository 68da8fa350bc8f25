"""The audit log: the changes made by operators, merged from three tables.

`Event` has the changes of single records, and `OperatorAction` has the bulk actions. Django's `LogEntry` has
the changes for which no event is recorded, such as changes of operators and groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet
from django.urls import reverse

from accounts.models import IS_BULK, OperatorAction
from api.cursors import id_in_cursor, moment_in_cursor, read_cursor, write_cursor
from api.ids import LARGEST_ID, as_id
from backoffice.models import Digest, MessageTemplate
from events.models import BY_OPERATORS, OPERATORS, Event
from events.timeline import entries
from fulfillments.models import Fulfillment
from fulfillments.states import NOTICES
from orders.processing_state import STATE_EVENTS

PAGE = 50
WITHOUT_EVENTS: tuple[type[Model], ...] = (User, Group, Digest, MessageTemplate)
"""The models whose changes by a form have no event. Django's log has the changes of all models."""

# Events that are consequences of another event: new states of orders, and notices to suppliers. The log
# leaves these events out, so that each action is one row.
CONSEQUENCES = Q(type__in=STATE_EVENTS.values()) | Q(type__in=NOTICES, to_state="")


class ActivityEntry(NamedTuple):
    """One row of the audit log."""

    at: datetime
    person: str
    what: str
    url: str
    on: str
    why: str
    source: str
    id: int


@dataclass(frozen=True)
class ActivityFilter:
    """The filters of the audit log. Empty fields filter nothing; `after` is the cursor of the shown page."""

    person: str = ""
    since: date | None = None
    until: date | None = None
    about: str = ""
    after: str = ""

    def url(self, after: str) -> dict[str, str]:
        """Return the URL parameters of the page that has these filters and begins after this cursor."""
        values = {"person": self.person, "since": self.since, "until": self.until, "about": self.about}
        return {name: str(value) for name, value in (values | {"after": after}).items() if value}


def page(filters: ActivityFilter) -> tuple[list[ActivityEntry], str]:
    """Return one page of entries, newest first, and the cursor of the next page (empty on the last page)."""
    moment, seen = _cursor(filters.after)
    filters = replace(filters, about=filters.about.strip())
    found = [
        *_events(filters, moment, seen.get("event", LARGEST_ID)),
        *_actions(filters, moment, seen.get("action", LARGEST_ID)),
        *_forms(filters, moment, seen.get("form", LARGEST_ID)),
    ]
    found.sort(key=lambda entry: (entry.at, entry.source, entry.id), reverse=True)
    shown = found[:PAGE]
    if len(found) <= PAGE:
        return shown, ""
    last = shown[-1].at
    ids = dict(seen) if last == moment else {}
    ids |= {entry.source: entry.id for entry in shown if entry.at == last}
    return shown, write_cursor(last.isoformat(), ids)


def _cursor(after: str) -> tuple[datetime, dict[str, int]]:
    try:
        moment, seen = read_cursor(after, parts=2)
        return moment_in_cursor(moment), {name: id_in_cursor(pk) for name, pk in seen.items()}
    except (ValueError, TypeError, AttributeError):
        return datetime.max.replace(tzinfo=UTC) - timedelta(days=1), {}


def _narrowed(
    rows: QuerySet[Any], at: str, filters: ActivityFilter, moment: datetime, seen: int
) -> QuerySet[Any]:
    """Return the rows before the cursor and within the filter's days, newest first.

    Read one row more than a page has. If this row exists, there is a next page.
    """
    rows = rows.filter(Q(**{f"{at}__lt": moment}) | Q(pk__lt=seen), **{f"{at}__lte": moment})
    if filters.since:
        rows = rows.filter(**{f"{at}__gte": datetime.combine(filters.since, time(), UTC)})
    if filters.until and filters.until < date.max:
        rows = rows.filter(**{f"{at}__lt": datetime.combine(filters.until + timedelta(days=1), time(), UTC)})
    return rows.order_by(F(at).desc(), F("pk").desc())[: PAGE + 1]


def _events(filters: ActivityFilter, moment: datetime, seen: int) -> Iterator[ActivityEntry]:
    rows = Event.objects.filter(BY_OPERATORS, ~Exists(_bulk_action_of_event())).exclude(CONSEQUENCES)
    rows = rows.select_related("supplier", "retailer")
    if filters.person:
        rows = rows.filter(actor=f"{OPERATORS}{filters.person}")
    if filters.about:
        rows = rows.filter(_subject(filters.about))
    for entry in entries(_narrowed(rows, "occurred_at", filters, moment, seen)):
        event = entry.event
        details = [(name, text) for name, text in entry.details if name != "operator reason"]
        why = next((text for name, text in entry.details if name == "operator reason"), "")
        on, url = _object(event)
        what = f"{event.type} {'; '.join(f'{name} {text}' for name, text in details)[:200]}".strip()
        yield ActivityEntry(event.occurred_at, _name(event.actor), what, url, on, why, "event", event.pk)


def _bulk_action_of_event() -> QuerySet[OperatorAction]:
    """Return a subquery for the bulk action that caused an event: the log lists the action, not the event.

    The action is older than its events. A request may also have an earlier event with another cause: a page
    suspends a supplier, and then chooses the supplier's open work for a reassignment.
    """
    same_request = OperatorAction.objects.filter(IS_BULK, request_id=OuterRef("request_id"))
    return same_request.filter(created_at__lt=OuterRef("occurred_at")).order_by()


def _actions(filters: ActivityFilter, moment: datetime, seen: int) -> Iterator[ActivityEntry]:
    """Yield confirmed actions on several records. The log lists an action on one record as an event."""
    # Members act on several records, too, in the portal.
    rows = OperatorAction.objects.filter(BY_OPERATORS, confirmed_at__isnull=False).exclude(total=1)
    rows = rows.select_related("undoes")
    if filters.person:
        person = f"{OPERATORS}{filters.person}"
        rows = rows.filter(Q(actor=person) | Q(approved_by=person))
    if filters.about:
        kind, number = _kind(filters.about)
        model = {"order": "orders.order", "fulfillment": "fulfillments.fulfillment"}.get(kind)
        model = model or {"import": "imports.importjob"}.get(kind, "")
        rows = rows.filter(model=model, rows__record_id=number)
    for action in _narrowed(rows, "created_at", filters, moment, seen):
        on = f"{action.total} {apps.get_model(action.model)._meta.verbose_name_plural}"
        yield ActivityEntry(
            action.created_at,
            _names(action),
            f"{action.label}, to undo “{action.undoes.label}”" if action.undoes else action.label,
            action.url,
            on,
            action.reason,
            "action",
            action.pk,
        )


def _forms(filters: ActivityFilter, moment: datetime, seen: int) -> Iterator[ActivityEntry]:
    if filters.about:
        return
    types = ContentType.objects.get_for_models(*WITHOUT_EVENTS).values()
    rows = LogEntry.objects.filter(content_type__in=types).select_related("user", "content_type")
    if filters.person:
        rows = rows.filter(user__username=filters.person)
    for log in _narrowed(rows, "action_time", filters, moment, seen):
        what = log.get_change_message() or log.get_action_flag_display()
        yield ActivityEntry(
            log.action_time, log.user.get_username(), what, _log_url(log), log.object_repr, "", "form", log.pk
        )


def _log_url(log: LogEntry) -> str:
    path = log.get_admin_url()
    return path if path and not log.is_deletion() else ""


def _names(action: OperatorAction) -> str:
    """Return the name of the action's operator, and of the second operator who approved it, if any."""
    approved = f", approved by {_name(action.approved_by)}" if action.approved_by else ""
    return f"{_name(action.actor)}{approved}"


def _name(actor: str) -> str:
    return actor.removeprefix(OPERATORS)


def _kind(about: str) -> tuple[str, int]:
    """Parse `fulfillment:7` into the kind of a record and its id. An id alone means an order."""
    kind, _, number = about.rpartition(":")
    return kind.strip().lower() or "order", as_id(number.strip())


def _subject(about: str) -> Q:
    kind, number = _kind(about)
    if kind == "fulfillment":  # filter by order, too: fulfillment_id has no index
        order = Fulfillment.objects.filter(pk=number).values_list("order_id", flat=True).first()
        return Q(order_id=order or 0, fulfillment_id=number)
    fields = {"order": "order_id", "import": "import_id"}
    return Q(**{fields[kind]: number}) if kind in fields else Q(pk__in=[])


PAGES = (
    ("fulfillment_id", "fulfillment", "fulfillments_fulfillment"),
    ("order_id", "order", "orders_order"),
    ("import_id", "import", "imports_importjob"),
)


def _object(event: Event) -> tuple[str, str]:
    for field, name, model in PAGES:
        if number := getattr(event, field):
            return f"{name} {number}", reverse(f"admin:{model}_change", args=[number])
    party = event.supplier or event.retailer
    return str(party or ""), _party_url(party)


def _party_url(party: Model | None) -> str:
    return reverse(f"admin:accounts_{party._meta.model_name}_change", args=[party.pk]) if party else ""
