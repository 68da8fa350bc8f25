"""Events whose data their types do not describe fail the test that records them."""

from __future__ import annotations

import pytest

from tests.event_data import checked_event


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "tracking_number is missing"),
        ({"tracking_number": 5}, "tracking_number is 5"),
        ({"tracking_number": "T", "carrier": "UPS"}, "carrier is not described"),
    ],
)
def test_an_event_with_other_data_than_its_types_is_found(data, said):
    with pytest.raises(AssertionError, match=said):
        checked_event(type="fulfillment.accepted", data=data)


def test_the_reason_of_an_operator_is_no_part_of_the_data():
    data = {"tracking_number": "T", "operator_reason": "By phone"}
    checked_event(type="fulfillment.accepted", data=data)
