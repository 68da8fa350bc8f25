"""Parties take turns: even if many requests of one party hang, a thread is free for the next party.

A *stranger* is a client without an accepted credential, known only by its address.
"""

from __future__ import annotations

import os

from config.web.pace import BESIDE_SECONDS, KNOWN_UNTIL, LONGEST_REST, StrangersPace
from config.web.parties import Stranger, is_stranger
from config.web.turns import LONGEST_WAIT, Turns


def turns_with(threads: int, **waiting: int) -> Turns[str]:
    turns: Turns[str] = Turns(threads, is_stranger=is_stranger)
    for party, count in waiting.items():
        for number in range(count):
            turns.add(party, f"{party}{number}", 0.0)
    return turns


def taken(turns: Turns[str], now: float = 0.0) -> list[str]:
    return [item for _, item in turns.take(now)]


def test_a_party_alone_has_half_of_the_threads():
    turns = turns_with(8, acme=10)
    assert taken(turns) == ["acme0", "acme1", "acme2", "acme3"]
    assert taken(turns) == []


def test_a_party_with_many_requests_leaves_threads_for_other_parties():
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
    turns.done(Stranger("192.0.2.0"), 0.0)
    assert taken(turns) == ["stranger"]


def test_beside_a_known_party_strangers_get_a_quarter_of_the_time():
    turns, now, begun = turns_with(8), 0.0, 0
    for number in range(100):
        turns.add(Stranger("192.0.2.1"), f"stranger{number}", 0.0)
    while now < 1.0:
        turns.add("acme", "acme", now)
        for party, _ in turns.take(now):
            begun += is_stranger(party)
            turns.done(party, now + 0.01, computed=0.01)
        now += 0.01
    assert 20 <= begun <= 30
    assert 0 < turns.wait(now) < 0.04


def test_beside_a_known_party_many_strangers_get_half_of_the_time():
    turns, now, begun = turns_with(8, acme=1), 0.0, 0
    for number in range(100):
        turns.add(Stranger(f"192.0.2.{number}"), f"stranger{number}", 0.0)
    while now < 1.0:
        turns.add("acme", "acme", now)
        for party, _ in turns.take(now):
            begun += is_stranger(party)
            turns.done(party, now + 0.01, computed=0.01)
        now += 0.01
    assert 40 <= begun <= 60


def test_an_expensive_stranger_delays_the_next_stranger_only_for_a_limited_time():
    turns = turns_with(8, acme=1)
    turns.add(Stranger("192.0.2.1"), "expensive", 0.0)
    for party, item in [*turns.take(0.0)]:
        turns.done(party, 0.5, computed=5.0 if item == "expensive" else 0.0)
    turns.add(Stranger("192.0.2.1"), "later", 0.5)
    assert list(turns.take(0.5)) == []
    assert 0 < turns.wait(0.5) <= LONGEST_REST
    assert taken(turns, 0.5 + LONGEST_REST) == ["later"]


def test_a_known_party_of_another_process_counts_too():
    shared = [0.0]
    one, other = (Turns[str](8, is_stranger=is_stranger, known_until=shared) for _ in range(2))
    one.add("acme", "acme", 0.0)
    assert taken(one) == ["acme"]
    other.add(Stranger("192.0.2.1"), "first", 0.0)
    assert taken(other) == ["first"]
    other.done(Stranger("192.0.2.1"), 0.0, computed=0.01)
    other.add(Stranger("192.0.2.1"), "second", 0.0)
    assert taken(other) == []


def test_without_a_known_party_strangers_need_no_rest():
    turns = turns_with(8)
    for number in range(10):
        turns.add(Stranger("192.0.2.1"), f"stranger{number}", 0.0)
        assert taken(turns) == [f"stranger{number}"]
        turns.done(Stranger("192.0.2.1"), 0.0, computed=5.0)
    assert turns.wait(0.0) == 0.0


def test_parties_take_turns_and_each_keeps_its_order():
    turns = turns_with(16, acme=3, rival=3)
    assert taken(turns) == ["acme0", "rival0", "acme1", "rival1", "acme2", "rival2"]


def test_a_returned_thread_is_given_to_the_next_request():
    turns = turns_with(8, acme=6)
    assert len(taken(turns)) == 4
    turns.done("acme", 0.0)
    assert taken(turns) == ["acme4"]


def test_with_few_threads_everyone_still_gets_one():
    for threads in (1, 2, 3):
        turns = turns_with(threads, acme=2)
        assert taken(turns)[0] == "acme0"
        turns.done("acme", 0.0)
        assert "acme1" in taken(turns) or threads > 2


def test_a_request_that_could_not_begin_in_time_is_dropped():
    turns = turns_with(8, acme=6)
    taken(turns)
    turns.add("acme", "later", 1.0)
    assert turns.overdue(LONGEST_WAIT) == []
    assert turns.overdue(LONGEST_WAIT + 0.1) == ["acme4", "acme5"]
    assert turns.overdue(LONGEST_WAIT + 1.1) == ["later"]


def test_a_request_can_be_taken_out_of_its_queue():
    turns = turns_with(8, acme=6, rival=1)
    assert len(list(turns.waiting())) == 7
    assert next(turns.take(0.0))[1] == "acme0"
    turns.remove("acme", "acme1")
    turns.remove("rival", "rival0")
    assert [item for _, item in turns.waiting()] == ["acme2", "acme3", "acme4", "acme5"]


def test_finished_parties_leave_no_entries():
    turns = turns_with(4, acme=1, rival=5)
    turns.add(Stranger("192.0.2.1"), "stranger", 0.0)
    while found := [party for party, _ in turns.take(0.0)]:
        for party in found:
            turns.done(party, 0.0)
    assert (turns.free, turns._busy, turns._waiting, turns._strangers) == (4, {}, {}, 0)


def test_web_processes_share_the_time_beside_known_parties():
    process = os.fork()
    if not process:
        StrangersPace(KNOWN_UNTIL).known(5.0)
        os._exit(0)
    os.waitpid(process, 0)
    assert KNOWN_UNTIL[0] == 5.0 + BESIDE_SECONDS
    KNOWN_UNTIL[0] = 0.0
