"""The embedded fonts, and the choice of fonts for a text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from fontTools.ttLib import TTFont

FOLDER = Path(__file__).parent / "fonts"
REGULAR, BOLD = FOLDER / "NotoSans-Regular.ttf", FOLDER / "NotoSans-Bold.ttf"
# The fonts in the order in which `needed_fonts` opens them: small files first.
OTHERS = {
    "hebrew": FOLDER / "NotoSansHebrew-Regular.ttf",
    "arabic": FOLDER / "NotoSansArabic-Regular.ttf",
    "hangul": FOLDER / "ExchangeHangul-Regular.ttf",
    "han": FOLDER / "DroidSansFallback.ttf",
}
INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs"}
RIGHT_TO_LEFT = {"R", "AL"}
FIRST_RIGHT_TO_LEFT = 0x590  # no character with a smaller code is written from right to left
FIRST_EAST_ASIAN = 0x1100
VARIATION_SELECTORS = range(0xFE00, 0xFE10)


@cache
def characters_of(path: Path) -> frozenset[int]:
    with TTFont(path, lazy=True) as font:
        return frozenset(font.getBestCmap())


BOX = "\u25a1"
"""The character that is printed instead of a character that no font has."""


def needed_fonts(texts: Iterable[str]) -> tuple[dict[str, Path], Counter[str]]:
    """Return the fonts that these texts need beside REGULAR, and the characters that no font has."""
    left = Counter(character for text in texts for character in text if not _is_invisible(character))
    left = _without(left, REGULAR)
    needed = {}
    for name, path in OTHERS.items():
        if not left:
            break
        without = _without(left, path)
        if len(without) < len(left):
            needed[name] = path
        left = without
    return needed, left


def _without(characters: Counter[str], path: Path) -> Counter[str]:
    known = characters_of(path)
    return Counter({each: count for each, count in characters.items() if ord(each) not in known})


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE or ord(character) in VARIATION_SELECTORS


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter of a text belongs to a script that is written from right to left."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in RIGHT_TO_LEFT or direction == "L":
            return direction != "L"
    return False


def needs_shaping(text: str) -> bool:
    """Return whether a text has letters of a script that is written from right to left.

    Shaping joins the letters of such scripts and puts them in the right order.
    """
    return any(
        ord(each) >= FIRST_RIGHT_TO_LEFT and unicodedata.bidirectional(each) in RIGHT_TO_LEFT for each in text
    )


def breaks_anywhere(text: str) -> bool:
    """Return whether a line of this text may end after any character, as in Chinese and Japanese."""
    return any(ord(each) >= FIRST_EAST_ASIAN and unicodedata.east_asian_width(each) in "WF" for each in text)
