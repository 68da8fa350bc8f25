"""The codec of all cursors. It also reads cursors that clients got from earlier versions."""

import base64

import pytest

from api.cursors import read_cursor, write_cursor

# Cursors of earlier versions: a page of orders, of the pull, and of the operators' desk.
HELD = {
    "WyJpZCIsICI-IiwgIjQyIl0": ["id", ">", "42"],
    "WyJncm91cHMiLCA3LCAiXHUwMGU0LTEiXQ": ["groups", 7, "ä-1"],
    "W3siaGVsZCI6WyIyMDI2LTExLTIzIiw1XX0sbnVsbF0": [{"held": ["2026-11-23", 5]}, None],
}


@pytest.mark.parametrize(("text", "values"), HELD.items())
def test_a_cursor_of_an_earlier_version_is_read(text, values):
    assert read_cursor(text, parts=len(values)) == values


def test_cursors_have_the_bytes_that_they_always_had():
    assert write_cursor("id", ">", "42") == "WyJpZCIsICI-IiwgIjQyIl0"
    assert write_cursor("groups", 7, "ä-1") == "WyJncm91cHMiLCA3LCAiXHUwMGU0LTEiXQ"


@pytest.mark.parametrize(
    "text",
    [
        *("x", "ä", "WzFd", "e30", "bnVsbA", "!!!!", "WyJhIiwi"),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
    ],
)
def test_any_other_text_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - the codec raises only ValueError
        read_cursor(text, parts=3)
