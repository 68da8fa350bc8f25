"""The pace of the soak's requests."""

from __future__ import annotations

import argparse

import pytest

from tools.bench.soak.__main__ import above_zero
from tools.bench.soak.traffic import Pace


def test_the_pause_is_the_time_that_the_orders_take_at_the_pace() -> None:
    pauses = [Pace(4).pause(took=0, orders=2) for _ in range(2000)]
    assert all(0.25 <= each <= 0.75 for each in pauses)


def test_the_pace_includes_the_time_of_the_answer() -> None:
    assert Pace(4).pause(took=100, orders=2) == 0
    assert Pace(4).pause(took=0.2, orders=2) <= 0.75 - 0.2


def test_without_a_pace_the_next_call_follows_the_answer() -> None:
    assert all(Pace().pause(took, orders=2) <= 0.2 for took in (0, 5, 100))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "many"])
def test_a_pace_is_a_positive_number(text: str) -> None:
    with pytest.raises((ValueError, argparse.ArgumentTypeError)) as refused:
        above_zero(text)
    assert text in str(refused.value)
