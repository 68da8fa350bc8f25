"""The endpoints of packing slips (contract 22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.errors import InvalidFilter, NotFound, TooLarge
from api.etags import tag_of_bytes
from api.filters import refuse_near_misses, refuse_repeated
from fulfillments.models import Fulfillment
from fulfillments.slips.contents import SlipDocument
from fulfillments.slips.documents import make_document
from fulfillments.slips.selectors import read_slips
from fulfillments.slips.sscc import cartons_of

PDF = "application/pdf"
MOST_SLIPS, MOST_CARTONS = 500, 200
MISSING = "X-Missing-Characters"
LARGEST_ID, MOST_DIGITS = 2**63 - 1, 19
NAMED = OpenApiParameter(
    "ids",
    {"type": "string", "maxLength": 8_000, "pattern": r"^[1-9]\d{0,17}(,[1-9]\d{0,17})*$"},
    required=True,
    description=f"The ids of at most {MOST_SLIPS} fulfillments, comma-separated, in the order of the slips.",
)
ONE_PARCEL = OpenApiParameter(
    "shipment_id",
    {"type": "integer", "format": "int64", "minimum": 1},
    description="The id of one parcel: the slip then shows its units alone.",
)
CARTONS = OpenApiParameter(
    "cartons",
    {"type": "integer", "minimum": 1, "maximum": MOST_CARTONS, "default": 1},
    description="The number of cartons of the fulfillment.",
)
MISSING_HEADER = OpenApiParameter(
    MISSING,
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    response=[200],
    description="How many characters no font has. Each is printed as a box.",
)


REFUSED = {
    "403": "`forbidden`: the key does not allow this. `slips_not_wanted`: the retailer wants no slips.",
    "409": "`nothing_to_ship`: all units of a fulfillment are rejected or canceled.",
}


def pdf_answer(document: SlipDocument, name: str) -> HttpResponse:
    """Answer with a document that browsers show."""
    headers = {
        "Content-Disposition": f'inline; filename="{name}.pdf"',
        MISSING: str(document.missing_characters),
        "ETag": tag_of_bytes(document.pdf),
    }
    return HttpResponse(document.pdf, content_type=PDF, headers=headers)


class SlipViewSet(SupplierViewSet):
    """A supplier's packing slips, as PDF files."""

    read_scope, write_scope = Scope.FULFILLMENTS_READ, Scope.FULFILLMENTS_WRITE
    answers_file = True
    operation_ids: ClassVar[dict[str, str]] = {
        "packing-slip": "get_packing_slip",
        "packing-slips": "get_packing_slips",
    }

    more_errors: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "slip": REFUSED,
        "slips": REFUSED | {"413": "`too_large`: names too many fulfillments, or they have too many lines."},
    }

    def find(self) -> None:
        pk = self.kwargs.get("fulfillment_id")
        if pk is not None and not self._own.filter(pk=pk).exists():
            raise NotFound

    @property
    def _own(self) -> Any:
        return Fulfillment.objects.for_supplier(self.supplier)

    @extend_schema(
        summary="Print a packing slip",
        parameters=[ONE_PARCEL, MISSING_HEADER],
        responses={(200, PDF): OpenApiResponse(OpenApiTypes.BINARY, "The packing slip.")},
    )
    def slip(self, request: Request, supplier_id: int, fulfillment_id: int) -> HttpResponse:
        """Return the packing slip of a fulfillment, or of one of its parcels, in the retailer's design."""
        known = frozenset({"shipment_id"})
        refuse_near_misses(request.query_params.dict(), known)
        refuse_repeated(request, known)
        text = request.query_params.get("shipment_id")
        shipment_id = None if text is None else read_ids("shipment_id", [text])[0]
        batch = read_slips(self._own, [fulfillment_id], shipment_id=shipment_id)
        return pdf_answer(make_document(batch), f"packing-slip-{fulfillment_id}")

    @extend_schema(
        summary="Print several packing slips",
        parameters=[NAMED, MISSING_HEADER],
        responses={(200, PDF): OpenApiResponse(OpenApiTypes.BINARY, "The packing slips.")},
    )
    def slips(self, request: Request, supplier_id: int) -> HttpResponse:
        """Return the packing slips of several fulfillments in one file, in the order of `ids`.

        An id that is named twice counts once. One fulfillment without a slip refuses the whole file.
        """
        batch = read_slips(self._own, self._ids(request))
        return pdf_answer(make_document(batch), "packing-slips")

    def _ids(self, request: Request) -> list[int]:
        known = frozenset({"ids"})
        words = [word.strip() for word in request.query_params.get("ids", "").split(",")]
        words = list(dict.fromkeys(word for word in words if word))
        if len(words) > MOST_SLIPS:
            raise TooLarge(
                f"Names {len(words)} fulfillments; the maximum is {MOST_SLIPS}. Send them in parts."
            )
        refuse_near_misses(request.query_params.dict(), known)
        refuse_repeated(request, known)
        if not words:
            raise InvalidFilter.at("ids", "Name the ids of fulfillments, such as ids=1,2,3.", "required")
        return list(dict.fromkeys(read_ids("ids", words)))


class CartonLabelViewSet(SupplierViewSet):
    """The labels of a replenishment's cartons. A read gives numbers, so it needs the scope to write."""

    read_scope, write_scope = Scope.FULFILLMENTS_WRITE, Scope.FULFILLMENTS_WRITE
    answers_file = True
    operation_ids: ClassVar[dict[str, str]] = {"carton-labels": "get_carton_labels"}
    more_errors: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "labels": {
            "409": "`not_replenish`: the order goes to a customer. `sscc_unavailable`: there is no GS1"
            " prefix, or all its numbers are used."
        }
    }
    fulfillment: Fulfillment

    def find(self) -> None:
        own = Fulfillment.objects.for_supplier(self.supplier).select_related("order", "supplier", "warehouse")
        fulfillment = own.filter(pk=self.kwargs["fulfillment_id"]).first()
        if fulfillment is None:
            raise NotFound
        self.fulfillment = fulfillment

    @extend_schema(
        summary="Print carton labels",
        parameters=[CARTONS, MISSING_HEADER],
        responses={(200, PDF): OpenApiResponse(OpenApiTypes.BINARY, "A page of 4 by 6 inches each.")},
    )
    def labels(self, request: Request, supplier_id: int, fulfillment_id: int) -> HttpResponse:
        """Return the SSCC labels of a replenishment's cartons. Each carton keeps its number forever."""
        known = frozenset({"cartons"})
        refuse_near_misses(request.query_params.dict(), known)
        refuse_repeated(request, known)
        (count,) = read_ids("cartons", [request.query_params.get("cartons", "1")])
        if count > MOST_CARTONS:
            raise InvalidFilter.at("cartons", f"Is {count}; the maximum is {MOST_CARTONS}.")
        cartons = cartons_of(self.fulfillment, count)
        from fulfillments.slips.labels import draw_labels  # fpdf2 takes 40 MB of each process

        document = draw_labels(self.fulfillment, cartons, count)
        return pdf_answer(document, f"carton-labels-{fulfillment_id}")


def read_ids(field: str, words: list[str]) -> list[int]:
    """Return ids from a URL. Raises InvalidFilter."""
    wrong = [
        word for word in words if not (word.isascii() and word.isdecimal() and 0 < int(word) <= LARGEST_ID)
    ]
    if wrong:
        raise InvalidFilter.at(field, f"{wrong[0][:60]} is not a whole number above 0.")
    return [int(word) for word in words]
