"""Lists of the portal with columns to choose, and files with the chosen columns and all rows of the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.saved_views import change_views, views_context
from api.exporting.cells import as_cell
from api.exporting.files import TYPES, as_file
from api.exporting.keyset import newest_first
from fastdb.standbys.reads import reads_from_standby
from portal.listing import ListQuery, Tabs
from portal.pages import PortalPage

COLUMNS, FILE = "columns", "file"
VIEW = "query"
"""The field that marks a POST as a change of saved views."""
MOMENT = "portal/list/moment.html"


@dataclass(frozen=True)
class ListColumn:
    """A column: its title, its value in a file, and the template of its cell on the page."""

    name: str
    title: str
    value: Callable[[Any], object]
    template: str = "portal/list/text.html"
    is_number: bool = False
    is_usual: bool = True
    is_for_files: bool = True


class PortalListPage(PortalPage):
    """A list with tabs, a search, columns to choose, and files with the same rows."""

    columns: ClassVar[Sequence[ListColumn]]
    kept: ClassVar[Sequence[str]] = ()
    """The URL parameters of the list's own filters, besides the tabs and the search."""
    hint: ClassVar[str]
    """The text in the empty search field."""

    @property
    def list_name(self) -> str:
        """Return the name under which views of this list are saved."""
        return f"portal.{self.party.role}.{self.title.lower()}"

    def needs_right(self) -> bool:
        """Return whether the request needs `right`. A saved view changes no record, so it needs no right."""
        return super().needs_right() and VIEW not in self.request.POST

    def listed(self) -> QuerySet[Any]:
        """Return the rows of the party that match the list's own filters."""
        raise NotImplementedError

    def tabs(self) -> Tabs:
        raise NotImplementedError

    def search(self, term: str) -> Q:
        """Return the condition that matches a search term."""
        raise NotImplementedError

    @cached_property
    def query(self) -> ListQuery:
        asked = self.request.GET.dict()
        if COLUMNS in asked:
            asked[COLUMNS] = ",".join(column.name for column in self.chosen_columns)
        return ListQuery.read(asked, self.tabs(), (*self.kept, COLUMNS))

    @cached_property
    def chosen_columns(self) -> list[ListColumn]:
        """The columns in the URL, else the usual columns."""
        names = {name for each in self.request.GET.getlist(COLUMNS) for name in each.split(",")}
        chosen = [column for column in self.columns if column.name in names]
        return chosen or [column for column in self.columns if column.is_usual]

    def get(self, request: HttpRequest, **kwargs: object) -> Any:
        kind = request.GET.get(FILE, "")
        return self.export(kind) if kind in TYPES else super().get(request)

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        """Save or delete a view. Lists with more forms override `change`."""
        if VIEW not in request.POST:
            return self.change(request)
        query = change_views(request, self.list_name, self.party)
        return HttpResponseRedirect(f"{request.path}?{query}")

    def change(self, request: HttpRequest) -> HttpResponse:
        """Handle a form that is not about views, such as new prices. The default changes nothing."""
        return HttpResponseRedirect(request.get_full_path())

    @reads_from_standby
    def export(self, kind: str) -> HttpResponseBase:
        # Use the first column if no chosen column is for files: a file without columns has only blank lines.
        columns = [column for column in self.chosen_columns if column.is_for_files] or [self.columns[0]]
        found = newest_first(self.query.narrow(self.listed(), self.search))
        rows = ([as_cell(column.value(record)) for column in columns] for record in found)
        name = f"{self.title} {timezone.now():%Y-%m-%d}".lower()
        return as_file(name, [column.title for column in columns], rows, kind)

    def context(self) -> dict[str, Any]:
        asked = self.request.GET
        page = self.query.page(self.listed(), self.search, asked.get("before", ""))
        return {
            **page,
            "hint": self.hint,
            "kept": self.query.kept,
            "columns": self.chosen_columns,
            "rows": [self.cells(record) for record in page["rows"]],
            "columns_to_choose": [
                (column.name, column.title, column in self.chosen_columns) for column in self.columns
            ],
            "columns_beside": [each for each in asked.items() if each[0] not in (COLUMNS, "before")],
            "columns_chosen": COLUMNS in asked,
            **views_context(self.request, self.list_name, self.request.path, self.party),
            "files": [(f"?{self.query.link(**{FILE: kind})}", kind.upper()) for kind in TYPES],
        }

    def cells(self, record: object) -> tuple[Any, list[tuple[ListColumn, object]]]:
        """Return the record, and the value of each chosen column."""
        return record, [(column, column.value(record)) for column in self.chosen_columns]
