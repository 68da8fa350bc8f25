"""Links from the numbers of a scorecard to the portal's list of the counted orders."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from django.urls import reverse

from accounts.models import Retailer, Supplier
from fulfillments.admin.filters import COUNTED_EVENTS, Counted
from fulfillments.scorecard.performance import Days

COUNTED = "counted"
"""The URL parameter that limits a list to the orders of one number of a scorecard."""
Party = Supplier | Retailer


def counted_links(url_name: str, days: Days, *, supplier_id: int = 0, retailer_id: int = 0) -> dict[str, str]:
    """Return the URL of the list of counted orders for each number of a scorecard."""
    numbers = {
        count: Counted(count, days.first, days.last, supplier_id, retailer_id) for count in COUNTED_EVENTS
    }
    return {
        count: f"{reverse(url_name)}?{urlencode({COUNTED: str(each)})}" for count, each in numbers.items()
    }


def read_counted(text: str, party: Party) -> Counted | None:
    """Return the number that the URL parameter names, or None for an invalid text.

    The number always counts only this party's orders, even if the parameter names another party.
    """
    try:
        counted = Counted.read(text)
    except ValueError:
        return None
    if isinstance(party, Supplier):
        return replace(counted, supplier_id=party.pk)
    return replace(counted, retailer_id=party.pk)
