"""The columns of an admin list: the columns in `?columns=`, else the list's default."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.utils.text import capfirst

from accounts.saved_views import query_of
from api.ids import as_id
from backoffice.lists.phrases import ABOUT, EMPTY
from backoffice.lists.views import saved_views
from backoffice.navigation.menu import kind_links

COLUMNS = "columns"
BESIDE = (COLUMNS, ORDER_VAR, "p", ERROR_FLAG)
"""URL parameters that a new choice of columns removes: a sort, for example, names a column's old position."""
INVALID_FILTER = "A filter in the address was invalid, so this list shows all rows."
BY_NUMBER = ("id", "-id", "pk", "-pk")


class ChosenChangeList(ChangeList):
    """A change list for which `?columns=` is not a filter. It sorts only by sortable columns."""

    def get_filters_params(self, params: Any = None) -> dict[str, object]:
        found: dict[str, object] = super().get_filters_params(params)
        found.pop(COLUMNS, None)
        return found

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """Return the rows. If the admin defines `with_columns`, call it to annotate the rows for the list."""
        rows = super().get_queryset(request, exclude_parameters)
        with_columns = getattr(self.model_admin, "with_columns", None)
        return with_columns(rows) if with_columns else rows

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """Sort by the chosen column, then by id in the same direction: one index then gives this order."""
        first, *others = super().get_ordering(request, queryset)
        if ORDER_VAR not in self.params:
            return [first, *others]
        descending = first.startswith("-") if isinstance(first, str) else getattr(first, "descending", False)
        return [first] if first in BY_NUMBER else [first, "-pk" if descending else "pk"]

    def get_ordering_field(self, field_name: Any) -> Any:
        """Return None for a column that is not sortable, because the URL may name any column."""
        if self.sortable_by is not None and field_name not in self.sortable_by:
            return None
        return super().get_ordering_field(field_name)


class ListMixin(ModelAdmin[Any]):
    """A mixin for all lists of the site: choosable columns and saved views.

    A ModelAdmin may set `changelist_class` and `more_columns`. The list shows the fields in `more_columns`
    only when the operator chooses them. The columns in `sorted_while_open` are sortable only while
    `open_filter` is chosen: only the rows of this filter have an index for the sort.
    """

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        # Refuse NUL characters here: PostgreSQL would raise an error for them.
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            raise IncorrectLookupParameters
        # Do not define `changelist_class` here: this mixin is the first base class, so its attribute would
        # hide the attribute of the admin.
        chosen: type[ChangeList] = getattr(self, "changelist_class", ChosenChangeList)
        return chosen

    def all_columns(self, request: HttpRequest) -> list[str]:
        """Return all columns that can be chosen."""
        more = getattr(self, "more_columns", ())
        return [str(name) for name in (*super().get_list_display(request), *more)]

    def get_list_display(self, request: HttpRequest) -> Any:
        usual = super().get_list_display(request)
        chosen = ",".join(request.GET.getlist(COLUMNS)).split(",")
        known = [name for name in self.all_columns(request) if name in chosen]
        return known or usual

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> Any:
        """Return the visible link columns, else the first column: each row needs a link."""
        usual: Any = super().get_list_display_links(request, list_display)
        shown = [name for name in usual if name in list_display]
        return shown or list(list_display)[:1]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> Any:
        if not all(map(as_id, request.POST.getlist(ACTION_CHECKBOX_NAME))):
            messages.error(request, "Select rows of this list.")
            return HttpResponseRedirect(request.get_full_path())
        if ERROR_FLAG in request.GET:
            messages.warning(request, INVALID_FILTER)
        title = capfirst(str(self.opts.verbose_name_plural))
        context = {
            "title": title,
            "about": ABOUT.get(str(self.opts.model_name), ""),
            "about_empty": EMPTY.get(str(self.opts.model_name), ""),
            **self._columns_context(request),
            **saved_views(self, request),
            "kind_tabs": kind_links(self.model, query_of(request.GET)),
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def _columns_context(self, request: HttpRequest) -> dict[str, object]:
        shown = {str(name) for name in self.get_list_display(request)}
        labels = [
            (name, capfirst(str(label_for_field(name, self.model, self))), name in shown)
            for name in self.all_columns(request)
        ]
        others = [(name, value) for name, value in request.GET.items() if name not in BESIDE]
        return {
            "columns_to_choose": labels,
            "columns_beside": others,
            "columns_chosen": COLUMNS in request.GET,
        }
