"""The first page after signing in: the open work of the party."""

from __future__ import annotations

from typing import Any

from accounts.member_roles import Right
from accounts.models import Supplier
from portal.buying.today import retailer_today
from portal.messages.views import open_messages
from portal.pages import PortalPage
from portal.supplying.today import supplier_today


class TodayPage(PortalPage):
    """The page with the open work as large numbers, and with some of the open orders."""

    section = title = "Today"
    right = Right.ORDERS

    @property
    def template(self) -> str:  # type: ignore[override]
        return f"portal/{'supplying' if isinstance(self.party, Supplier) else 'buying'}/today.html"

    def context(self) -> dict[str, Any]:
        party = self.party
        today = supplier_today(party) if isinstance(party, Supplier) else retailer_today(party)
        return {**today, "buckets": [*today["buckets"], open_messages(party)]}
