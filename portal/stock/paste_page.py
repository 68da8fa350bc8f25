"""The page for counts from a spreadsheet: rows to paste, their preview, and their results."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Result
from accounts.operating.admin_actions import LEVELS, sent_form_id
from inventory.models import Warehouse
from portal.listing import MOST_ROWS
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage
from portal.stock.pasted_counts import CountRow, check_counts, read_counts
from portal.stock.selectors import chosen_warehouse
from portal.stock.services import StockEntry, save_stock

LONGEST_PASTE = 50_000


class PasteCountsPage(PortalPage):
    """The page that saves up to 100 pasted counts of one warehouse, after a preview."""

    template = "portal/stock/paste.html"
    section = "Stock"
    title = "Paste counts"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    warehouse: Warehouse

    def find(self, **kwargs: Any) -> None:
        warehouse, _ = chosen_warehouse(self.supplier, self.request.GET.get("warehouse", ""))
        if warehouse is None:
            raise Http404
        self.warehouse = warehouse

    def context(self) -> dict[str, object]:
        return {"warehouse": self.warehouse, "pasted": "", "most": MOST_ROWS}

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        text = request.POST.get("rows", "").replace("\0", "")[:LONGEST_PASTE]
        rows = read_counts(text)
        if not rows or len(rows) > MOST_ROWS:
            return self.render({**self.context(), "pasted": text, "error": _wrong_number(len(rows))})
        check_counts(self.supplier, self.warehouse, rows)
        ready, wrong = [row for row in rows if not row.problem], [row for row in rows if row.problem]
        form_id = sent_form_id(request.POST.dict())
        preview = {**self.context(), "rows": rows, "ready": len(ready), "pasted": text, "form_id": uuid4()}
        if "save" not in request.POST or form_id is None or not ready:
            return self.render(preview)
        entries = [StockEntry(row.variant.pk, int(row.count)) for row in ready if row.variant]
        result, message = save_stock(self.warehouse, entries, by=self.actor, form_id=form_id)
        messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
        if result is Result.REFUSED:
            return self.render(preview)
        if wrong:
            return self.render({**self.context(), "rows": wrong, "pasted": _as_text(wrong)})
        return HttpResponseRedirect(f"{reverse('portal:stock')}?warehouse={self.warehouse.pk}")


def _as_text(rows: list[CountRow]) -> str:
    return "\n".join(row.text for row in rows)


def _wrong_number(rows: int) -> str:
    if not rows:
        return "There is no row. Paste SKUs with their counts."
    return f"There are {rows} rows. Paste at most {MOST_ROWS} at a time, or upload a stock file."
