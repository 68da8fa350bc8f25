"""However many requests of one party are stuck, the next party finds a thread."""

from __future__ import annotations

from config.web.turns import LONGEST_WAIT, STUCK_SECONDS, Turns


def turns_with(threads: int, **waiting: int) -> Turns[str]:
    turns: Turns[str] = Turns(threads)
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


def test_parties_take_turns_and_each_keeps_its_order():
    turns = turns_with(16, acme=3, rival=3)
    assert taken(turns) == ["acme0", "rival0", "acme1", "rival1", "acme2", "rival2"]


def test_a_thread_that_comes_back_is_given_on():
    turns = turns_with(8, acme=6)
    assert len(taken(turns)) == 4
    turns.done("acme", 1.0, since=0.0)
    assert taken(turns) == ["acme4"]


def test_with_few_threads_everybody_still_gets_one():
    for threads in (1, 2, 3):
        turns = turns_with(threads, acme=2)
        assert taken(turns)[0] == "acme0"
        turns.done("acme", 1.0, since=0.0)
        assert "acme1" in taken(turns) or threads > 2


def test_who_waits_behind_stuck_requests_is_let_go_and_who_moves_on_may_wait():
    turns = turns_with(8, acme=6)
    taken(turns)
    assert turns.overdue(STUCK_SECONDS - 1) == []
    turns.done("acme", STUCK_SECONDS - 1, since=STUCK_SECONDS - 2)
    taken(turns)
    assert turns.overdue(STUCK_SECONDS + 1) == []
    assert turns.overdue(2 * STUCK_SECONDS) == ["acme5"]


def test_what_ends_because_it_was_stuck_keeps_nobody_waiting():
    turns = turns_with(8, acme=6)
    taken(turns)
    turns.done("acme", STUCK_SECONDS + 0.1, since=0.0)
    assert turns.overdue(STUCK_SECONDS + 0.2) == ["acme4", "acme5"]


def test_nobody_waits_for_ever_though_something_gets_done():
    turns = turns_with(8, acme=6)
    taken(turns)
    turns.add("acme", "late", 20.0)
    turns.done("acme", LONGEST_WAIT, since=LONGEST_WAIT - 1)
    assert turns.overdue(LONGEST_WAIT + 1) == ["acme4", "acme5"]


def test_all_keys_of_a_party_share_its_share():
    turns: Turns[str] = Turns(8)
    assert turns.party_of(1) == 1
    turns.learn(1, "supplier:7")
    turns.learn(2, "supplier:7")
    assert turns.party_of(1) == turns.party_of(2) == "supplier:7"


def test_nothing_is_left_of_those_who_are_done():
    turns = turns_with(4, acme=1, rival=5)
    while found := [party for party, _ in turns.take()]:
        for party in found:
            turns.done(party, 1.0, since=0.0)
    assert (turns.free, turns._busy, turns._waiting, turns._done_at) == (4, {}, {}, {})
