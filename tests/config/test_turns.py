"""However many requests of one party are stuck, the next party finds a thread."""

from __future__ import annotations

from config.web.parties import Stranger, is_stranger
from config.web.turns import LONGEST_WAIT, Turns


def turns_with(threads: int, **waiting: int) -> Turns[str]:
    turns: Turns[str] = Turns(threads, is_stranger=is_stranger)
    for party, count in waiting.items():
        for number in range(count):
            turns.add(party, f"{party}{number}", 0.0)
    return turns


def taken(turns: Turns[str]) -> list[str]:
    return [item for _, item in turns.take()]


def test_a_party_alone_has_half_of_the_threads():
    turns = turns_with(8, acme=10)
    assert taken(turns) == ["acme0", "acme1", "acme2", "acme3"]
    assert taken(turns) == []


def test_each_of_several_greedy_parties_leaves_one_for_the_next():
    turns = turns_with(8, acme=10)
    taken(turns)
    for party in ("rival", "shop"):
        turns.add(party, party, 0.0)
        assert taken(turns) == [party]


def test_strangers_of_one_address_have_a_quarter_of_the_threads():
    turns = turns_with(8)
    for _ in range(4):
        turns.add(Stranger("192.0.2.1"), "stranger", 0.0)
    assert len(taken(turns)) == 2


def test_strangers_at_any_number_of_addresses_leave_half_of_the_threads():
    turns = turns_with(8)
    for number in range(20):
        turns.add(Stranger(f"192.0.2.{number}"), "stranger", 0.0)
    assert len(taken(turns)) == 4
    turns.add("acme", "acme", 0.0)
    assert taken(turns) == ["acme"]
    turns.done(Stranger("192.0.2.0"))
    assert taken(turns) == ["stranger"]


def test_parties_take_turns_and_each_keeps_its_order():
    turns = turns_with(16, acme=3, rival=3)
    assert taken(turns) == ["acme0", "rival0", "acme1", "rival1", "acme2", "rival2"]


def test_a_thread_that_comes_back_is_given_on():
    turns = turns_with(8, acme=6)
    assert len(taken(turns)) == 4
    turns.done("acme")
    assert taken(turns) == ["acme4"]


def test_with_few_threads_everyone_still_gets_one():
    for threads in (1, 2, 3):
        turns = turns_with(threads, acme=2)
        assert taken(turns)[0] == "acme0"
        turns.done("acme")
        assert "acme1" in taken(turns) or threads > 2


def test_a_request_that_could_not_begin_in_time_is_let_go():
    turns = turns_with(8, acme=6)
    taken(turns)
    turns.add("acme", "later", 1.0)
    assert turns.overdue(LONGEST_WAIT) == []
    assert turns.overdue(LONGEST_WAIT + 0.1) == ["acme4", "acme5"]
    assert turns.overdue(LONGEST_WAIT + 1.1) == ["later"]


def test_a_request_can_be_taken_out_of_its_queue():
    turns = turns_with(8, acme=6, rival=1)
    assert len(list(turns.waiting())) == 7
    assert next(turns.take())[1] == "acme0"
    turns.remove("acme", "acme1")
    turns.remove("rival", "rival0")
    assert [item for _, item in turns.waiting()] == ["acme2", "acme3", "acme4", "acme5"]


def test_nothing_is_left_of_parties_that_are_done():
    turns = turns_with(4, acme=1, rival=5)
    turns.add(Stranger("192.0.2.1"), "stranger", 0.0)
    while found := [party for party, _ in turns.take()]:
        for party in found:
            turns.done(party)
    assert (turns.free, turns._busy, turns._waiting, turns._strangers) == (4, {}, {}, 0)
