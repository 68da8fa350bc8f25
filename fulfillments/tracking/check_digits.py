"""The algorithms of check digits. Each algorithm returns the correct check character of a serial number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
S10_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
Terms = Mapping[str, Any]


def _value(character: str) -> int:
    """Return the value of a digit or a letter. Letters have the values that UPS defines: A is 2, I is 0."""
    return int(character) if character.isdigit() else (ord(character) - 3) % 10


def _weighted(serial: str, weights: Sequence[int]) -> int:
    return sum(_value(character) * weight for character, weight in zip(serial, weights, strict=False))


def _mod7(serial: str, terms: Terms) -> str:
    return str(int(serial) % 7)


def _mod10(serial: str, terms: Terms) -> str:
    multipliers = (terms["evens_multiplier"], terms["odds_multiplier"])
    total = sum(_value(each) * multipliers[index % 2] for index, each in enumerate(serial))
    return str(-total % 10)


def _luhn(serial: str, terms: Terms) -> str:
    doubled = (int(each) * (2 - index % 2) for index, each in enumerate(reversed(serial)))
    return str(-sum(sum(divmod(each, 10)) for each in doubled) % 10)


def _s10(serial: str, terms: Terms) -> str:
    rest = 11 - _weighted(serial, S10_WEIGHTS) % 11
    return str({10: 0, 11: 5}.get(rest, rest))


def _two_moduli(serial: str, terms: Terms) -> str:
    return str(_weighted(serial, terms["weightings"]) % terms["modulo1"] % terms["modulo2"])


def _mod_37_36(serial: str, terms: Terms) -> str:
    """Return the check character of ISO 7064, MOD 37,36."""
    rest = 36
    for character in serial:
        rest = (rest + ALPHABET.index(character)) % 36 or 36
        rest = rest * 2 % 37
    return ALPHABET[(37 - rest) % 36]


def _crc_4(serial: str, terms: Terms) -> str:
    """Return the CRC-4 with the polynomial x⁴+x³+x²+x+1 over the hexadecimal digits."""
    rest = 15
    for bit in f"{int(serial, 16):0{4 * len(serial)}b}":
        top = rest >> 3 ^ int(bit)
        rest = (rest << 1 & 15) ^ (15 if top else 0)
    return f"{rest:X}"


ALGORITHMS: Mapping[str, Callable[[str, Terms], str]] = {
    "mod7": _mod7,
    "mod10": _mod10,
    "luhn": _luhn,
    "s10": _s10,
    "sum_product_with_weightings_and_modulo": _two_moduli,
    "mod_37_36": _mod_37_36,
    "crc_4": _crc_4,
}
