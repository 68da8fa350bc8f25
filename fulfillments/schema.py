"""The parameters of a capture, for the OpenAPI schema."""

from drf_spectacular.utils import OpenApiParameter

from fulfillments.queries import FULFILLMENT_STATES, RETAILER_STATES

FILTERS = [
    OpenApiParameter(
        "filter",
        str,
        description='URL-encoded JSON: {"retailer_state": "ordered", "fulfillment_state": "new"}.',
    ),
    OpenApiParameter("retailer_state", str, enum=sorted(RETAILER_STATES)),
    OpenApiParameter(
        "fulfillment_state",
        str,
        enum=sorted(FULFILLMENT_STATES),
        description="`new` also returns what a refused cancellation gave back, under its own state.",
    ),
]
