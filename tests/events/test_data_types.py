"""A test fails if it records an event with data that does not fit the type of the event."""

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
def test_an_event_whose_data_does_not_fit_its_type_is_found(data, said):
    with pytest.raises(AssertionError, match=said):
        checked_event(type="fulfillment.accepted", data=data)


def test_the_reason_of_an_operator_is_no_part_of_the_data():
    data = {"tracking_number": "T", "operator_reason": "By phone"}
    checked_event(type="fulfillment.accepted", data=data)
