from django.urls import path

from fulfillments.scorecard.views import ScorecardViewSet
from fulfillments.serializers import CANCELATION_ANSWERS
from fulfillments.slips.views import CartonLabelViewSet, SlipViewSet
from fulfillments.states import REJECTIONS
from fulfillments.views import FulfillmentViewSet

ALL = "v3/suppliers/<id:supplier_id>/fulfillments"
ONE = f"{ALL}/<id:fulfillment_id>"

urlpatterns = [
    path("v3/suppliers/<id:supplier_id>/scorecard", ScorecardViewSet.as_view({"get": "retrieve"})),
    path(ALL, FulfillmentViewSet.as_view({"get": "capture"})),
    path(f"{ALL}/shipments", FulfillmentViewSet.as_view({"post": "shipments"})),
    path(f"{ALL}/rejections", FulfillmentViewSet.as_view({"post": "rejections"})),
    path(ONE, FulfillmentViewSet.as_view({"get": "retrieve", "put": "invoice"})),
    path("v3/suppliers/<id:supplier_id>/packing-slips", SlipViewSet.as_view({"get": "slips"})),
    path(f"{ONE}/packing-slip", SlipViewSet.as_view({"get": "slip"})),
    path(f"{ONE}/shipments/<id:shipment_id>", FulfillmentViewSet.as_view({"patch": "correct_shipment"})),
    path(f"{ONE}/carton-labels", CartonLabelViewSet.as_view({"get": "labels"})),
    path(f"{ONE}/returns", FulfillmentViewSet.as_view({"post": "returns"})),
    path(f"{ONE}/setStatus", FulfillmentViewSet.as_view({"put": "answer_cancelation"})),
    path(f"{ONE}/setStatus/accepted", FulfillmentViewSet.as_view({"put": "accept"})),
    path(f"{ONE}/setStatus/shipped", FulfillmentViewSet.as_view({"put": "ship"})),
    *(
        path(f"{ONE}/setStatus/{reason}", FulfillmentViewSet.as_view({"put": "reject"}), {"reason": reason})
        for reason in REJECTIONS
    ),
    *(
        path(
            f"{ONE}/setStatus/{answer}",
            FulfillmentViewSet.as_view({"put": "answer_cancelation_by_path"}),
            {"status": CANCELATION_ANSWERS[answer]},
        )
        for answer in (
            "canceled",
            "cancelation_not_allowed",
            "cancellation_not_allowed",
            "cancelation not allowed",
        )
    ),
]
