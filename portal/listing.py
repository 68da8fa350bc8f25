"""Lists of the portal: tabs, a search, and keyset pages. The number of queries is small and fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.http import urlencode

from api.ids import LARGEST_ID, as_id

PAGE = 50
MOST_ROWS = 2 * PAGE
"""The maximum number of rows of a form: a page, and the rows with errors that the page no longer has."""
LONGEST_TERM = 100
MOST_FOUND = 200
"""The maximum number of records that each query of a search finds, newest first."""
Tabs = Mapping[str, tuple[str, Q]]
"""The label and the condition of each tab. The first tab is the default."""


@dataclass(frozen=True)
class ListQuery:
    """The query in a list's URL: the tab, the search term, and the parameters that all links keep."""

    tabs: Tabs
    tab: str
    term: str
    kept: Mapping[str, str]

    @classmethod
    def read(cls, asked: Mapping[str, str], tabs: Tabs, kept: Sequence[str] = ()) -> ListQuery:
        tab = asked["tab"] if asked.get("tab") in tabs else next(iter(tabs))
        term = asked.get("q", "").replace("\0", "").strip()[:LONGEST_TERM]
        return cls(tabs, tab, term, {name: asked[name] for name in kept if asked.get(name)})

    def narrow(self, listed: QuerySet[Any], find: Callable[[str], Q]) -> QuerySet[Any]:
        """Return the rows that the search finds. Without a search term, return the rows of the tab."""
        return listed.filter(find(self.term) if self.term else self.tabs[self.tab][1])

    def link(self, **more: str) -> str:
        """Return the query string of this list (search or tab, and `kept`) with more parameters."""
        own = {"q": self.term} if self.term else {"tab": self.tab}
        return urlencode({**own, **self.kept, **more})

    def page(self, listed: QuerySet[Any], find: Callable[[str], Q], before: str = "") -> dict[str, Any]:
        """Return the context of one page: its rows (newest first), its tabs, and the link to older rows."""
        shown = self.narrow(listed.filter(pk__lt=as_id(before) or LARGEST_ID), find)
        rows = list(shown.order_by("-pk")[: PAGE + 1])
        return {
            "tabs": self._tab_links(),
            "term": self.term,
            "rows": rows[:PAGE],
            "older": self.link(before=str(rows[PAGE - 1].pk)) if len(rows) > PAGE else "",
        }

    def _tab_links(self) -> list[dict[str, object]]:
        return [
            {
                "label": label,
                "url": f"?{urlencode({'tab': name, **self.kept})}",
                "is_current": name == self.tab and not self.term,
            }
            for name, (label, _) in self.tabs.items()
        ]


def page_of(
    listed: QuerySet[Any], asked: Mapping[str, str], tabs: Tabs, find: Callable[[str], Q]
) -> dict[str, Any]:
    """Return the context of one page of a list without further filters."""
    return ListQuery.read(asked, tabs).page(listed, find, asked.get("before", ""))


def in_either(*found: QuerySet[Any]) -> Q:
    """Return a condition that finds the newest records of several queries. Each query uses its own index."""
    ids = (pk for rows in found for pk in rows.order_by("-pk").values_list("pk", flat=True)[:MOST_FOUND])
    return Q(pk__in={*ids})
