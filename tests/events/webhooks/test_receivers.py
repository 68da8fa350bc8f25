"""The state of a webhook in memory: order within a subject, and requests in flight."""

import pytest

from events.webhooks.sending import receivers
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.receivers import Due, Receiver

TAKEN, REFUSED = ReceiverAnswer(204, ""), ReceiverAnswer(500, "no")


def due(event, subject="order:1", before=None, **fields):
    return Due(
        **{"id": event, "webhook_id": 1, "attempts": 0, "replays": 0, "expires_at": 0.0, **fields},
        event_id=event,
        subject=subject,
        before=before,
    )


@pytest.fixture
def receiver():
    return Receiver(1)


def hold(receiver, *deliveries, taken=()):
    return [receiver.hold(each, b"", set(taken)) for each in deliveries]


def test_a_later_delivery_is_sent_after_the_earlier_delivery_arrived(receiver):
    first, second, other = due(1), due(2, before=1), due(3, "order:2")
    assert hold(receiver, first, second, other) == [True, True, True]
    assert [receiver.take(), receiver.take(), receiver.take()] == [first, other, None]
    receiver.answered(first, TAKEN)
    assert receiver.take() == second


def test_deliveries_behind_a_failed_one_are_forgotten_until_due(receiver):
    first, second = due(1), due(2, before=1)
    hold(receiver, first, second)
    receiver.answered(receiver.take(), REFUSED)
    assert receiver.take() is None
    assert receiver.held == {}
    assert hold(receiver, second) == [False]
    assert hold(receiver, first, second) == [True, True]


def test_a_delivery_that_arrived_meanwhile_does_not_delay_the_next_one(receiver):
    """Event 1 is taken, but its result is not stored yet.

    Only a delivery between events 1 and 3 may delay event 3.
    """
    assert hold(receiver, due(3, before=2), taken=[1]) == [False]
    assert hold(receiver, due(3, before=2), taken=[2]) == [True]


def test_a_delivery_is_held_once(receiver):
    hold(receiver, due(1), due(1))
    assert receiver.take() is not None
    assert receiver.take() is None


def test_a_good_receiver_gets_more_deliveries_at_once_and_a_failing_receiver_fewer(receiver):
    def round_of(answer, count):
        for number in range(count):
            hold(receiver, due(number, subject=""))
            receiver.answered(receiver.take(), answer)

    round_of(TAKEN, 50)
    assert receiver.limit == receivers.MOST_OPEN
    round_of(REFUSED, 6)
    assert receiver.limit == 1


def test_a_receiver_that_accepts_nothing_gets_few_requests(receiver, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("events.webhooks.sending.receivers.time.monotonic", lambda: now[0])
    asked = []
    for number in range(40):
        hold(receiver, due(number, subject=""))
    for _ in range(600):
        if taken := receiver.take():
            asked.append(now[0])
            receiver.answered(taken, REFUSED)
        now[0] += 1.0
    assert asked[receivers.DOWN_AFTER - 1] - asked[0] < 30
    pauses = [
        later - earlier for earlier, later in zip(asked[receivers.DOWN_AFTER :], asked[21:], strict=False)
    ]
    assert pauses[0] > 5
    assert pauses[-1] == pytest.approx(receivers.LONGEST_PAUSE, abs=1)

    receiver.answered(_taken(receiver, now), TAKEN)
    assert not receiver.is_down
    assert receiver.take() is not None


def _taken(receiver, now):
    now[0] += receivers.LONGEST_PAUSE
    return receiver.take()


def test_released_deliveries_are_not_sent_and_open_requests_end(receiver):
    first, second, other = due(1), due(2, before=1), due(3, "order:2")
    hold(receiver, first, second, other)
    receiver.take()
    receiver.forget()
    assert receiver.take() is None
    assert list(receiver.held) == [1]
    assert hold(receiver, second) == [True]  # the second delivery is held again, behind the open request
    receiver.answered(first, TAKEN)
    assert receiver.take() == second
