"""The lists of suppliers and retailers: most trouble first."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from backoffice.lists.columns import ChosenChangeList
from backoffice.partners.tabs import tab_url
from backoffice.partners.trouble import Trouble, most_trouble_first, troubles


class PartnerList(ChosenChangeList):
    """A list of parties that sets `trouble` on each party and links to the party's own page."""

    @cached_property
    def troubles(self) -> dict[int, Trouble]:
        parties: Any = self.model
        return troubles(parties.role)

    def get_queryset(self, request: HttpRequest, exclude_parameters: object = None) -> QuerySet[Any]:
        rows = super().get_queryset(request, exclude_parameters)
        return rows if ORDER_VAR in self.params else most_trouble_first(rows, self.troubles)

    def get_ordering_field_columns(self) -> Any:
        """Return the columns by which the operator sorts. The default order, by trouble, marks no column."""
        return super().get_ordering_field_columns() if ORDER_VAR in self.params else {}

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        for party in self.result_list:
            party.trouble = self.troubles.get(party.pk)

    def url_for_result(self, result: object) -> str:
        return tab_url(result)
