"""The endpoints of packing slips and carton labels (contract 22)."""

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
from api.filters import refuse_too_long
from api.ids import LARGEST_ID
from fulfillments.models import Fulfillment
from fulfillments.slips.contents import SlipDocument
from fulfillments.slips.documents import make_document
from fulfillments.slips.selectors import read_slips
from fulfillments.slips.sscc import cartons_of

PDF = "application/pdf"
MOST_SLIPS, MOST_CARTONS = 500, 200
MISSING = "X-Missing-Characters"
MOST_DIGITS = 19
LONGEST_IDS = MOST_SLIPS * 16  # ids of up to 15 digits, within the longest URL of the web server
NAMED = OpenApiParameter(
    "ids",
    {"type": "string", "maxLength": LONGEST_IDS, "pattern": r"^[1-9]\d{0,18}(,[1-9]\d{0,18})*$"},
    required=True,
    description=f"The ids of at most {MOST_SLIPS} fulfillments, comma-separated, in the order of the slips.",
)
ONE_PARCEL = OpenApiParameter(
    "shipment_id",
    {"type": "integer", "format": "int64", "minimum": 1},
    description="The id of one parcel: the slip then shows only the units of this parcel.",
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
    description="The number of characters that no font has. Each is printed as a box.",
)


REFUSED = {
    "403": "`forbidden`: the key does not allow this. `slips_not_wanted`: the retailer wants no slips.",
    "409": "`nothing_to_ship`: all units of a fulfillment are rejected or canceled.",
}


def pdf_answer(document: SlipDocument, name: str) -> HttpResponse:
    """Return an answer with the PDF file, which browsers show instead of saving it."""
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

        A repeated id counts once. If one fulfillment has no slip, the whole request is refused.
        """
        batch = read_slips(self._own, self._ids(request))
        return pdf_answer(make_document(batch), "packing-slips")

    def check_parameters(self) -> None:
        """Refuse too many ids before any other check (contract 22)."""
        if len(words := self._words()) > MOST_SLIPS:
            raise TooLarge(
                f"Names {len(words)} fulfillments; the maximum is {MOST_SLIPS}. Send several requests."
            )
        super().check_parameters()

    def _words(self) -> list[str]:
        words = [word.strip() for word in self.request.query_params.get("ids", "").split(",")]
        return list(dict.fromkeys(word for word in words if word))

    def _ids(self, request: Request) -> list[int]:
        refuse_too_long(request.query_params.dict(), frozenset({"ids"}), most=LONGEST_IDS)
        words = self._words()
        if not words:
            raise InvalidFilter.at("ids", "Name the ids of fulfillments, such as ids=1,2,3.", "required")
        return list(dict.fromkeys(read_ids("ids", words)))


class CartonLabelViewSet(SupplierViewSet):
    """The labels of a replenishment's cartons. A read creates SSCCs, so reads need the write scope."""

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
        responses={(200, PDF): OpenApiResponse(OpenApiTypes.BINARY, "One page, 4 by 6 inches, per carton.")},
    )
    def labels(self, request: Request, supplier_id: int, fulfillment_id: int) -> HttpResponse:
        """Return the SSCC labels of a replenishment's cartons. Each carton keeps its number forever."""
        (count,) = read_ids("cartons", [request.query_params.get("cartons", "1")])
        if count > MOST_CARTONS:
            raise InvalidFilter.at("cartons", f"Is {count}; the maximum is {MOST_CARTONS}.")
        cartons = cartons_of(self.fulfillment, count)
        from fulfillments.slips.labels import draw_labels  # import fpdf2 late: it takes 40 MB of memory

        document = draw_labels(self.fulfillment, cartons, count)
        return pdf_answer(document, f"carton-labels-{fulfillment_id}")


def read_ids(field: str, words: list[str]) -> list[int]:
    """Return the whole numbers of a URL parameter. Raises InvalidFilter for any other text."""
    for word in words:
        if not (word.isascii() and word.isdecimal()) or not word.strip("0"):
            raise InvalidFilter.at(field, f"{word[:60]} is not a whole number above 0.")
        # Python refuses to convert a text of thousands of digits, so check its length first.
        if len(word) > MOST_DIGITS or int(word) > LARGEST_ID:
            raise InvalidFilter.at(field, f"{word[:60]} is too large; the maximum is {LARGEST_ID}.")
    return [int(word) for word in words]
