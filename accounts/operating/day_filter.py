"""A filter by days for lists. It is fast in tables with millions of rows, because ids grow with time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib.admin import FieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.db import connection
from django.db.models import Field, Model, QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_date
from psycopg.sql import SQL, Identifier, Literal

# Search with this margin: concurrent transactions may get their ids and their times in different orders.
MARGIN = timedelta(hours=1)
EARLIEST = datetime.min.replace(tzinfo=UTC) + MARGIN
FIRST = """
    WITH RECURSIVE search (low, high) AS (
        SELECT min({id}), max({id}) + 1 FROM {table}
        UNION ALL
        SELECT CASE WHEN found.at < {moment} THEN found.id + 1 ELSE low END,
            CASE WHEN found.at < {moment} THEN high ELSE (low + high) / 2 END
        FROM search, LATERAL (SELECT {id} AS id, {at} AS at FROM {table}
            WHERE {id} >= (low + high) / 2 ORDER BY {id} LIMIT 1) AS found
        WHERE low < high
    )
    SELECT low FROM search WHERE low >= high
"""


def first_since(model: type[Model], time_field: str, moment: datetime) -> int | None:
    """Find the id of the first row at or after a moment by bisection.

    If all rows are older, return the largest id plus one. If the table is empty, return None.
    """
    meta = model._meta
    columns = {field.name: field.column or "" for field in meta.concrete_fields}
    query = SQL(FIRST).format(
        table=Identifier(meta.db_table),
        id=Identifier(columns[meta.pk.name]),
        at=Identifier(columns[time_field]),
        moment=Literal(moment),
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


class DaysFilter(FieldListFilter):
    """A filter for the rows from one day (UTC) to another, both included. An unreadable day is ignored."""

    template = "admin/days_filter.html"

    def __init__(
        self,
        field: Field[Any, Any],
        request: HttpRequest,
        params: dict[str, Any],
        model: type[Model],
        model_admin: Any,
        field_path: str,
    ) -> None:
        self.model, self.field_name = model, field_path
        self.since_name, self.until_name = f"{field_path}_from", f"{field_path}_to"
        super().__init__(field, request, params, model, model_admin, field_path)
        self.since, self.until = self._day(self.since_name), self._day(self.until_name)

    def _day(self, name: str) -> date | None:
        values: Any = self.used_parameters.get(name) or [""]
        try:
            return parse_date(str(values[-1]))
        except ValueError:
            return None

    def expected_parameters(self) -> list[str | None]:
        return [self.since_name, self.until_name]

    def has_output(self) -> bool:
        return True

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.since:
            begin = datetime.combine(self.since, time.min, UTC)
            first_id = first_since(self.model, self.field_name, max(begin, EARLIEST) - MARGIN)
            queryset = queryset.filter(**{f"{self.field_name}__gte": begin, "pk__gte": first_id or 0})
        if self.until and self.until < date.max:
            end = datetime.combine(self.until, time.min, UTC) + timedelta(days=1)
            end_id = first_since(self.model, self.field_name, end + MARGIN)
            queryset = queryset.filter(**{f"{self.field_name}__lt": end})
            queryset = queryset if end_id is None else queryset.filter(pk__lt=end_id)
        return queryset

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield one dict for the template: the two days, and the list's other filters as hidden fields."""
        form_names = {self.since_name, self.until_name, "p"}
        yield {
            "since": self.since,
            "until": self.until,
            "since_name": self.since_name,
            "until_name": self.until_name,
            "others": [(name, value) for name, value in changelist.params.items() if name not in form_names],
            "clear": changelist.get_query_string(remove=[*form_names]),
        }
