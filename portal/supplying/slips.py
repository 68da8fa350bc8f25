"""Packing slips as PDF files: of one order, of chosen orders, or of all new orders."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from api.errors import ApiError
from api.ids import as_id
from fulfillments.models import Fulfillment, next_limit
from fulfillments.slips.documents import make_document
from fulfillments.slips.selectors import read_slips
from fulfillments.slips.views import MOST_SLIPS, pdf_answer
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage, PortalRecordPage
from portal.supplying.selectors import TABS, fulfillments_of


class PackingSlipPage(PortalRecordPage):
    """The packing slip of an order, as a PDF file."""

    section = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS

    def of_party(self) -> QuerySet[Any]:
        return fulfillments_of(self.supplier)

    def get(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        back = reverse("portal:supplier_order", args=[self.record.pk])
        return _slips(self, [self.record.pk], f"packing-slip-{self.record.pk}", back)


class PackingSlipsPage(PortalPage):
    """The packing slips of all new orders, or of the orders that were chosen in the list, in one PDF file."""

    template = "portal/supplying/no_slips.html"
    section = "Orders"
    title = "Packing slips"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS

    def get(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        return self._answer(TABS["new"][1], "There are no new orders.")

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        ids = [as_id(each) for each in request.POST.getlist("chosen")]
        return self._answer(Q(pk__in=ids), "Choose orders in the list first.")

    def _answer(self, wanted: Q, nothing: str) -> HttpResponse:
        found = fulfillments_of(self.supplier).filter(wanted).order_by(next_limit(), "pk")
        ids = [*found.values_list("pk", flat=True)[: MOST_SLIPS + 1]]
        if not ids:
            return self.render({"nothing": nothing})
        if len(ids) > MOST_SLIPS:
            messages.error(self.request, f"There are more than {MOST_SLIPS} orders. Choose some in the list.")
            return HttpResponseRedirect(reverse("portal:supplier_orders"))
        return _slips(self, ids, "packing-slips", reverse("portal:supplier_orders"))


def _slips(page: PortalPage, ids: list[int], name: str, back: str) -> HttpResponse:
    """Return the slips as a PDF file, or redirect to `back` with the reason why there is no file.

    If there are several orders, orders without a slip are left out.
    """
    own = Fulfillment.objects.for_supplier(page.supplier)
    try:
        batch = read_slips(own, ids, leave_out=len(ids) > 1)
        if batch.slips:
            return pdf_answer(make_document(batch), name)
        reason = "None of these orders has a packing slip: their retailers want none."
    except ApiError as error:
        reason = error.message
    messages.error(page.request, reason)
    return HttpResponseRedirect(back)
