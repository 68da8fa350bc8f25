"""The page of quick ship: rows to fill in, their preview, and their results."""

from __future__ import annotations

from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from accounts.member_roles import Right
from accounts.operating.admin_actions import sent_form_id
from fulfillments.states import State
from portal.late import is_late
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage
from portal.supplying.actions import UNACCEPTED
from portal.supplying.quick_ship import MOST_ROWS, ShipRow, check, read_rows, ship
from portal.supplying.selectors import fulfillments_of, most_urgent

LONGEST_PASTE = 20_000
FIELD = "tracking_"


class QuickShipPage(PortalPage):
    """The page that ships up to 50 orders, from pasted rows or from numbers typed beside open orders."""

    template = "portal/supplying/quick_ship.html"
    section = title = "Quick ship"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS

    def context(self) -> dict[str, object]:
        shippable = fulfillments_of(self.supplier).filter(state__in=(*UNACCEPTED, State.ACCEPTED))
        shown = most_urgent(shippable, MOST_ROWS)
        return {"open_rows": [(each, is_late(each)) for each in shown], "pasted": "", "most": MOST_ROWS}

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        text = request.POST.get("rows", "").replace("\0", "")[:LONGEST_PASTE]
        rows = read_rows(text, self._typed(request))
        if not rows or len(rows) > MOST_ROWS:
            return self.render({**self.context(), "pasted": _pasted(rows), "error": _wrong_number(len(rows))})
        check(self.supplier, rows)
        form_id = sent_form_id(request.POST.dict())
        if "ship" not in request.POST or form_id is None:
            return self.render(_preview(rows))
        ship(rows, by=self.actor, form_id=form_id, doubtful="doubtful" in request.POST)
        left = [row for row in rows if row.problem]
        context = {"results": rows, "shipped": len(rows) - len(left), "pasted": _pasted(left)}
        return self.render({**self.context(), **context})

    @staticmethod
    def _typed(request: HttpRequest) -> list[tuple[int, str]]:
        """Return the ids of fulfillments with the tracking numbers that were typed beside them."""
        typed = request.POST.items()
        named = ((name.removeprefix(FIELD), str(number)) for name, number in typed if name.startswith(FIELD))
        return [(int(pk), number) for pk, number in named if pk.isascii() and pk.isdecimal() and len(pk) < 19]


def _preview(rows: list[ShipRow]) -> dict[str, object]:
    ready = sum(row.is_ready for row in rows)
    doubtful = sum(row.is_ready and bool(row.warning) for row in rows)
    return {
        "preview": rows,
        "ready": ready,
        "doubtful": doubtful,
        "pasted": _pasted(rows),
        "form_id": uuid4(),
    }


def _pasted(rows: list[ShipRow]) -> str:
    return "\n".join(row.text for row in rows)


def _wrong_number(rows: int) -> str:
    if not rows:
        return "There is no row. Paste orders with their tracking numbers, or type a number beside an order."
    return f"There are {rows} rows. Ship at most {MOST_ROWS} at a time."
