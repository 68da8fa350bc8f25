"""A part whose facts cannot be read goes on to give signs of life."""

from __future__ import annotations

from api import signs_of_life


def test_a_failure_of_the_facts_is_logged_and_the_signs_go_on(monkeypatch, caplog):
    given: list[tuple[str, dict[str, float]]] = []
    monkeypatch.setattr(signs_of_life, "give", lambda part, **facts: given.append((part, facts)))

    signs_of_life.give_if_turning("tests", lambda: {"held": 1 / 0}, None)
    signs_of_life.give_if_turning("tests", lambda: {"held": 1.0}, None)

    assert given == [("tests", {}), ("tests", {"held": 1.0})]
    assert "the facts of tests cannot be read" in caplog.text
