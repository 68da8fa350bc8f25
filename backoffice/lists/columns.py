"""Which columns a list shows: as `?columns=` says, else all that it has of its own."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.text import capfirst

from backoffice.lists.views import views_context

COLUMNS = "columns"


class ChosenChangeList(ChangeList):
    """A list that knows which columns were chosen, which links on it keep, and which it can be sorted by."""

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        found.pop(COLUMNS, None)
        return found

    def get_ordering_field(self, field_name: Any) -> Any:
        """Nothing where the list is not sorted by that column: an address could ask for it all the same."""
        if self.sortable_by is not None and field_name not in self.sortable_by:
            return None
        return super().get_ordering_field(field_name)


class ListMixin(ModelAdmin[Any]):
    """What all lists of the site have: columns to choose, and views to save.

    An admin may name `more_columns`: fields that its list shows when somebody chooses them.
    """

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        # No column holds such a text, and the database refuses to look for it.
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            raise IncorrectLookupParameters
        return ChosenChangeList

    def all_columns(self, request: HttpRequest) -> list[str]:
        """What there is to choose from."""
        more = getattr(self, "more_columns", ())
        return [str(name) for name in (*super().get_list_display(request), *more)]

    def get_list_display(self, request: HttpRequest) -> Any:
        usual = super().get_list_display(request)
        chosen = request.GET.get(COLUMNS, "").split(",")
        known = [name for name in self.all_columns(request) if name in chosen]
        return known or usual

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> Any:
        """The usual ones; the first column where none of them is shown: each row leads to its page."""
        usual: Any = super().get_list_display_links(request, list_display)
        shown = [name for name in usual if name in list_display]
        return shown or list(list_display)[:1]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        title = capfirst(str(self.opts.verbose_name_plural))
        context = {
            "title": title,
            **self._columns_context(request),
            **views_context(self, request),
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def _columns_context(self, request: HttpRequest) -> dict[str, Any]:
        shown = {str(name) for name in self.get_list_display(request)}
        labels = [
            (name, capfirst(str(label_for_field(name, self.model, self))), name in shown)
            for name in self.all_columns(request)
        ]
        others = [(name, value) for name, value in request.GET.items() if name not in (COLUMNS, "p", "e")]
        return {
            "columns_to_choose": labels,
            "columns_beside": others,
            "columns_chosen": COLUMNS in request.GET,
        }
